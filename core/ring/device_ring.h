// The device's half of a split virtqueue: fetch avail heads, walk chains, keep
// used elements in a shadow and publish them once, suppress or ask for kicks,
// decide calls.
#pragma once

#include <algorithm>
#include <vector>

#include "core/memory/access.h"
#include "core/memory/ring_areas.h"
#include "core/ring/chain.h"
#include "core/ring/walk.h"

namespace vringlab {

// Indices run free modulo 2^16; `& mask` makes a slot of one.
struct DeviceRingState {
  std::uint16_t size = 0;               // entries
  bool event_idx = false;               // EVENT_IDX negotiated
  bool indirect = false;                // INDIRECT_DESC negotiated
  bool signalled_valid = false;         // signalled_used means something
  bool kick_suppressed = false;         // NO_NOTIFY stands in used.flags
  std::uint16_t avail_idx = 0;          // the driver's index when last read
  std::uint16_t next_avail = 0;         // next avail entry to fetch
  std::uint16_t next_used = 0;          // next used element to write: used.idx
  std::uint16_t pending_used = 0;       // elements in the shadow
  std::uint16_t signalled_used = 0;     // used.idx at the last call decision
  RingError broken = RingError::kNone;  // why the queue takes part no more
};

enum class Fetch : std::uint8_t { kHead, kEmpty, kBroken };

template <RingAccess A, PayloadAccess P>
class DeviceRing {
 public:
  // `config` has passed map_ring_areas. Allocates; nothing later does.
  DeviceRing(A access, P payload, const QueueConfig& config)
      : access_(std::move(access)),
        payload_(std::move(payload)),
        shadow_(config.size),
        fetched_(config.size),
        in_flight_(config.size) {
    state_.size = static_cast<std::uint16_t>(config.size);
    state_.event_idx = config.has(kFeatureRingEventIdx);
    state_.indirect = config.has(kFeatureRingIndirectDesc);
  }

  // Fetches the next available head into `head`. A broken queue has no work,
  // so that nobody spins on it; kBroken comes once, when it breaks.
  Fetch next_head(std::uint16_t& head) {
    if (state_.broken != RingError::kNone) return Fetch::kEmpty;
    if (state_.next_avail == state_.avail_idx) {
      if (!refresh_avail()) return Fetch::kBroken;
      if (state_.next_avail == state_.avail_idx) return Fetch::kEmpty;
    }
    const std::uint16_t from = slot(state_.next_avail);
    access_.begin_section(Scope::kAvail);
    head = access_.get_avail_head(from);
    access_.end_section(Scope::kAvail);
    if (head >= state_.size) return mark_broken(RingError::kHeadOutOfRange);
    // 2.7.13: a head belongs to the device until it stands in the used ring.
    // This also bounds what is in flight: a head more than the ring has is one twice.
    if (in_flight_[head] != 0) return mark_broken(RingError::kHeadInFlight);
    in_flight_[head] = 1;
    fetched_[from] = head;
    ++state_.next_avail;
    return Fetch::kHead;
  }

  // Walks the chain of a fetched head into `chain.room`.
  RingError walk(std::uint16_t head, Chain& chain) {
    chain.start(head);
    access_.begin_section(Scope::kDesc);
    const RingError error = walk_chain(access_, payload_, state_.size, state_.indirect, chain);
    access_.end_section(Scope::kDesc);
    return error;
  }

  // Fetch and walk under one scope: what a data path does for each packet.
  Fetch next_chain(Chain& chain, RingError& error) {
    access_.begin_section(Scope::kFetch);
    std::uint16_t head = 0;
    const Fetch fetch = next_head(head);
    if (fetch == Fetch::kHead) error = walk(head, chain);
    access_.end_section(Scope::kFetch);
    return fetch;
  }

  // Gives the last `count` fetched heads back, as if they had not been fetched.
  void discard(std::uint16_t count) {
    for (; count > 0; --count) {
      --state_.next_avail;
      in_flight_[fetched_[slot(state_.next_avail)]] = 0;
    }
  }

  // Records a completed chain and the bytes written into it; the driver sees
  // nothing before flush_used. At most `size` heads exist, so the shadow holds.
  void push_used(std::uint16_t head, std::uint32_t written_bytes) {
    shadow_[state_.pending_used++] = {head, written_bytes};
  }

  // Writes the shadow to the used ring, in one block or two where it wraps, and
  // publishes the index once. Returns the number of elements.
  std::uint16_t flush_used() {
    const std::uint16_t count = state_.pending_used;
    if (count == 0) return 0;
    const std::uint16_t first_slot = slot(state_.next_used);
    const auto first =
        std::min<std::uint16_t>(count, static_cast<std::uint16_t>(state_.size - first_slot));
    access_.begin_section(Scope::kUsed);
    access_.put_used_elements(first_slot, shadow_.data(), first);
    if (count > first)
      access_.put_used_elements(0, shadow_.data() + first,
                                static_cast<std::uint16_t>(count - first));
    access_.template order<OrderPoint::kDevicePublishUsed>();
    state_.next_used = static_cast<std::uint16_t>(state_.next_used + count);
    access_.put_used_idx(state_.next_used);
    access_.end_section(Scope::kUsed);
    for (std::uint16_t i = 0; i < count; ++i) in_flight_[shadow_[i].id] = 0;
    state_.pending_used = 0;
    return count;
  }

  // Tells the driver not to kick. With EVENT_IDX an avail_event left behind
  // suppresses by itself.
  void disable_notify() {
    if (state_.event_idx || state_.kick_suppressed) return;
    state_.kick_suppressed = true;
    access_.put_used_flags(kUsedNoNotify);
  }

  // Asks for a kick when avail.idx moves past what this side has seen. Returns
  // true if it has moved already: the kick may never come, look again. Entries
  // seen but not fetched don't count: a device that waits for more of them sleeps.
  bool enable_notify() {
    if (state_.broken != RingError::kNone) return false;
    if (state_.event_idx) {
      access_.put_avail_event(state_.avail_idx);
    } else if (state_.kick_suppressed) {
      state_.kick_suppressed = false;
      access_.put_used_flags(0);
    }
    access_.template order<OrderPoint::kDeviceEnableNotify>();
    return access_.get_avail_idx() != state_.avail_idx;
  }

  // Entries seen and not yet fetched; reads nothing.
  bool seen_pending() const { return state_.next_avail != state_.avail_idx; }

  // Has the driver made more available since the last look? One read of the index.
  bool more_available() {
    return state_.broken == RingError::kNone && access_.get_avail_idx() != state_.avail_idx;
  }

  // Is there work, or has the driver made some since the last look? A read of
  // the index at most; for a device that polls before it sleeps.
  bool work_pending() {
    if (state_.broken != RingError::kNone) return false;
    return state_.next_avail != state_.avail_idx || access_.get_avail_idx() != state_.avail_idx;
  }

  // Does the driver want a call for what was published since the last decision?
  bool should_call() {
    access_.template order<OrderPoint::kDeviceCallDecision>();
    if (!state_.event_idx) return (access_.get_avail_flags() & kAvailNoInterrupt) == 0;
    const std::uint16_t old = state_.signalled_used;
    const bool valid = state_.signalled_valid;
    state_.signalled_used = state_.next_used;
    state_.signalled_valid = true;
    // After a start there is no old index to compare with: call once, always.
    return !valid || need_event(access_.get_used_event(), state_.next_used, old);
  }

  // Takes the queue over at `base`, the index of the next avail entry; used.idx
  // in memory says where the used ring stands.
  void start(std::uint16_t base) {
    reset();
    state_.next_avail = state_.avail_idx = base;
    state_.next_used = access_.get_used_idx();
    access_.put_used_flags(0);  // whoever served the ring before may have left NO_NOTIFY
  }

  // Back to the state of a new queue; nothing in flight is written any more.
  void reset() {
    state_ = {.size = state_.size, .event_idx = state_.event_idx, .indirect = state_.indirect};
    std::ranges::fill(in_flight_, 0);
  }

  std::uint16_t base() const { return state_.next_avail; }
  const DeviceRingState& state() const { return state_; }
  A& access() { return access_; }
  P& payload() { return payload_; }

  // Takes the queue out of service for `why`; only reset or start end that.
  Fetch mark_broken(RingError why) {
    state_.broken = why;
    return Fetch::kBroken;
  }

 private:
  std::uint16_t slot(std::uint16_t index) const {
    return static_cast<std::uint16_t>(index & (state_.size - 1));
  }
  bool refresh_avail() {
    const std::uint16_t idx = access_.get_avail_idx();
    access_.template order<OrderPoint::kDeviceReadAvail>();
    if (index_distance(idx, state_.next_avail) > state_.size) {
      mark_broken(RingError::kAvailIndexAhead);
      return false;
    }
    state_.avail_idx = idx;
    return true;
  }

  A access_;
  P payload_;
  DeviceRingState state_;
  std::vector<UsedElem> shadow_;         // completed, unpublished
  std::vector<std::uint16_t> fetched_;   // head taken from each avail slot, for discard
  std::vector<std::uint8_t> in_flight_;  // per head: held by the device
};

}  // namespace vringlab
