// The guest's half of a split virtqueue: add buffers, decide kicks, reap
// completions, suppress or ask for calls, give back what the device never used.
// Trusts nothing in the used ring and keeps its own copy of every link, so that
// a hostile device can break the queue and nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/memory/access.h"
#include "core/memory/ring_areas.h"

namespace vringlab {

// A guest buffer as the driver hands it over.
struct Buffer {
  GuestAddr addr;
  std::uint32_t len = 0;  // bytes
};

// Names a request for its owner; given back when the device is done with it.
using Token = std::uint64_t;

struct Completion {
  Token token = 0;
  std::uint32_t written_bytes = 0;  // what the device says it wrote
};

// One indirect table a head, side by side in guest memory.
struct IndirectTables {
  GuestAddr base;             // guest address of the first table
  Desc* host = nullptr;       // the same, as the driver sees it; null: no indirect chains
  std::uint16_t entries = 0;  // descriptors a table
};

// Indices run free modulo 2^16.
struct DriverRingState {
  std::uint16_t size = 0;               // entries
  bool event_idx = false;               // EVENT_IDX negotiated
  bool indirect = false;                // INDIRECT_DESC negotiated and tables given
  bool calls_suppressed = false;        // NO_INTERRUPT stands in avail.flags
  std::uint16_t free_head = 0;          // first free descriptor, if free_count > 0
  std::uint16_t free_count = 0;         // free descriptors
  std::uint16_t next_avail = 0;         // next avail entry to write
  std::uint16_t published_avail = 0;    // avail.idx in memory
  std::uint16_t kicked_avail = 0;       // avail.idx at the last kick decision
  std::uint16_t used_idx = 0;           // the device's index when last read
  std::uint16_t last_used = 0;          // next used element to reap
  std::uint16_t in_flight = 0;          // heads the device holds
  std::uint16_t detach_cursor = 0;      // next head that detach_unused looks at
  RingError broken = RingError::kNone;  // why the queue takes part no more
};

template <DriverAccess A>
class DriverRing {
 public:
  // `config` has passed map_ring_areas. Allocates; nothing later does.
  DriverRing(A access, const QueueConfig& config, const IndirectTables& tables = {})
      : access_(std::move(access)), tables_(tables), heads_(config.size), next_(config.size) {
    state_.size = static_cast<std::uint16_t>(config.size);
    state_.event_idx = config.has(kFeatureRingEventIdx);
    state_.indirect = config.has(kFeatureRingIndirectDesc) && tables.host != nullptr;
    free_all();
  }

  // Queues one chain of device-readable then device-writable buffers. The device
  // may see it only after publish(). Returns the head. Inlined by force: most
  // callers know how many buffers there are, and then no loop is left.
  [[gnu::always_inline]] Result<std::uint16_t> add(std::span<const Buffer> readable,
                                                   std::span<const Buffer> writable, Token token) {
    if (state_.broken != RingError::kNone) return RingError::kQueueBroken;
    const std::size_t count = readable.size() + writable.size();
    if (count == 0) return RingError::kEmptyChain;
    if (state_.indirect && count > 1 && count <= tables_.entries)
      return add_indirect(readable, writable, token);
    if (count > state_.free_count) return RingError::kRingFull;
    const std::uint16_t head = state_.free_head;
    put_buffers(readable, 0, count);
    const std::uint64_t capacity = put_buffers(writable, kDescWrite, writable.size());
    take(head, static_cast<std::uint16_t>(count), capacity, token);
    return head;
  }

  // Lets the device see all that was added.
  void publish() {
    // The device must find descriptors and avail entries before the index.
    access_.template order<OrderPoint::kDriverPublishAvail>();
    state_.published_avail = state_.next_avail;
    access_.put_avail_idx(state_.published_avail);
  }

  // Does the device want a kick for what was published since the last decision?
  bool kick_needed() {
    const std::uint16_t old = state_.kicked_avail;
    state_.kicked_avail = state_.published_avail;
    access_.template order<OrderPoint::kDriverKickDecision>();
    if (!state_.event_idx) return (access_.get_used_flags() & kUsedNoNotify) == 0;
    return need_event(access_.get_avail_event(), state_.published_avail, old);
  }

  // The next completion, or none. A used element that can't be true breaks the queue.
  std::optional<Completion> reap() {
    if (state_.broken != RingError::kNone) return std::nullopt;
    if (state_.last_used == state_.used_idx && !refresh_used()) return std::nullopt;
    const UsedElem elem = access_.get_used_element(slot(state_.last_used));
    const RingError error = check(elem);
    if (error != RingError::kNone) {
      state_.broken = error;
      return std::nullopt;
    }
    const auto head = static_cast<std::uint16_t>(elem.id);
    ++state_.last_used;
    release(head);
    return Completion{heads_[head].token, elem.len};
  }

  // Asks for a call at the next completion. Returns true if one is there
  // already: the call may never come, reap again.
  bool enable_callback() { return arm_callback(0); }

  // Asks for a call once three quarters of what is in flight have completed.
  bool enable_callback_delayed() {
    return arm_callback(static_cast<std::uint16_t>(state_.in_flight * 3 / 4));
  }

  // Asks for no calls: a hint, one may still come.
  void disable_callback() {
    if (state_.calls_suppressed) return;
    state_.calls_suppressed = true;
    if (state_.event_idx) {
      // An event just behind: the device passes it again only after 2^16 - 1 elements.
      access_.put_used_event(static_cast<std::uint16_t>(state_.last_used - 1));
    } else {
      access_.put_avail_flags(kAvailNoInterrupt);
    }
  }

  // Gives back, one a call, the tokens of chains that the device still holds;
  // then none. Only after the device was stopped.
  std::optional<Token> detach_unused() {
    for (; state_.detach_cursor < state_.size; ++state_.detach_cursor) {
      const std::uint16_t head = state_.detach_cursor;
      if (heads_[head].descriptors == 0) continue;
      release(head);
      return heads_[head].token;
    }
    state_.detach_cursor = 0;
    return std::nullopt;
  }

  // A new queue in the same memory; whatever was in flight is forgotten (detach
  // it first). The device must have been stopped.
  void reset() requires ResettableDriverAccess<A> {
    state_ = {.size = state_.size, .event_idx = state_.event_idx, .indirect = state_.indirect};
    for (Head& head : heads_) head = {};
    free_all();
    access_.put_avail_flags(0);
    access_.put_avail_idx(0);
    if (state_.event_idx) access_.put_used_event(0);
    access_.clear_used(state_.event_idx);
  }

  // Starts both free-running indices of an empty queue at `idx`, where used.idx
  // in memory stands already.
  void start(std::uint16_t idx) {
    state_.next_avail = state_.published_avail = state_.kicked_avail = idx;
    state_.used_idx = state_.last_used = idx;
    access_.put_avail_idx(idx);
  }

  const DriverRingState& state() const { return state_; }
  A& access() { return access_; }

 private:
  // What is known of a head in flight.
  struct Head {
    Token token = 0;
    std::uint64_t capacity = 0;     // bytes the device may write
    std::uint16_t descriptors = 0;  // taken from the table; 0: not in flight
  };

  std::uint16_t slot(std::uint16_t index) const {
    return static_cast<std::uint16_t>(index & (state_.size - 1));
  }

  void free_all() {
    for (std::uint16_t i = 0; i < state_.size; ++i) next_[i] = static_cast<std::uint16_t>(i + 1);
    state_.free_head = 0;
    state_.free_count = state_.size;
  }

  // Writes buffers into free descriptors from free_head on. `left` counts the
  // buffers of the chain from the first of these to its end. Returns their bytes.
  std::uint64_t put_buffers(std::span<const Buffer> buffers, std::uint16_t flags,
                            std::size_t left) {
    std::uint64_t bytes = 0;
    for (const Buffer& buffer : buffers) {
      const std::uint16_t index = state_.free_head;
      state_.free_head = next_[index];
      const std::uint16_t more = --left > 0 ? kDescNext : 0;
      access_.put_descriptor(index, {buffer.addr.value, buffer.len,
                                     static_cast<std::uint16_t>(flags | more), state_.free_head});
      bytes += buffer.len;
    }
    return bytes;
  }

  Result<std::uint16_t> add_indirect(std::span<const Buffer> readable,
                                     std::span<const Buffer> writable, Token token) {
    if (state_.free_count == 0) return RingError::kRingFull;
    const std::uint16_t head = state_.free_head;
    const std::size_t first = std::size_t{head} * tables_.entries;
    const std::size_t count = readable.size() + writable.size();
    std::uint64_t capacity = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const bool write = i >= readable.size();
      const Buffer& buffer = write ? writable[i - readable.size()] : readable[i];
      const auto flags =
          static_cast<std::uint16_t>((write ? kDescWrite : 0) | (i + 1 < count ? kDescNext : 0));
      access_.put_indirect(tables_.host + first + i, {buffer.addr.value, buffer.len, flags,
                                                      static_cast<std::uint16_t>(i + 1)});
      if (write) capacity += buffer.len;
    }
    access_.put_descriptor(head,
                           {tables_.base.value + first * sizeof(Desc),
                            static_cast<std::uint32_t>(count * sizeof(Desc)), kDescIndirect, 0});
    state_.free_head = next_[head];
    take(head, 1, capacity, token);
    return head;
  }

  // Accounts a written chain and gives it an avail entry.
  void take(std::uint16_t head, std::uint16_t descriptors, std::uint64_t capacity, Token token) {
    heads_[head] = {token, capacity, descriptors};
    state_.free_count = static_cast<std::uint16_t>(state_.free_count - descriptors);
    ++state_.in_flight;
    access_.put_avail_head(slot(state_.next_avail), head);
    ++state_.next_avail;
  }

  // Puts the descriptors of `head` back on the free list.
  void release(std::uint16_t head) {
    std::uint16_t last = head;
    for (std::uint16_t i = 1; i < heads_[head].descriptors; ++i) last = next_[last];
    next_[last] = state_.free_head;
    state_.free_head = head;
    state_.free_count = static_cast<std::uint16_t>(state_.free_count + heads_[head].descriptors);
    --state_.in_flight;
    heads_[head].descriptors = 0;
  }

  bool refresh_used() {
    const std::uint16_t idx = access_.get_used_idx();
    access_.template order<OrderPoint::kDriverReadUsed>();
    if (index_distance(idx, state_.last_used) > state_.in_flight) {
      state_.broken = RingError::kUsedIndexAhead;
      return false;
    }
    state_.used_idx = idx;
    return idx != state_.last_used;
  }

  RingError check(const UsedElem& elem) const {
    if (elem.id >= state_.size) return RingError::kUsedIdOutOfRange;
    if (heads_[elem.id].descriptors == 0) return RingError::kUsedIdNotInFlight;
    if (elem.len > heads_[elem.id].capacity) return RingError::kUsedLength;
    return RingError::kNone;
  }

  bool arm_callback(std::uint16_t after) {
    if (state_.broken != RingError::kNone) return false;
    if (state_.event_idx) {
      access_.put_used_event(static_cast<std::uint16_t>(state_.last_used + after));
    } else if (state_.calls_suppressed) {
      access_.put_avail_flags(0);
    }
    state_.calls_suppressed = false;
    access_.template order<OrderPoint::kDriverEnableCallback>();
    return index_distance(access_.get_used_idx(), state_.last_used) > after;
  }

  A access_;
  IndirectTables tables_;
  DriverRingState state_;
  std::vector<Head> heads_;
  std::vector<std::uint16_t> next_;  // links of chains in flight and of the free list
};

}  // namespace vringlab
