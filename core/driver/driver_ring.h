// The guest's half of a split virtqueue: add buffers, decide kicks, reap
// completions, suppress or ask for calls, give back what the device never used.
// Trusts nothing in the used ring and keeps its own copy of every link, so that
// a hostile device can break the queue and nothing else.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/driver/buffer.h"
#include "core/driver/dma.h"
#include "core/driver/mappings.h"
#include "core/memory/access.h"
#include "core/memory/ring_areas.h"

namespace vringlab {

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
  bool maps = false;                    // buffers and tables go through the DMA api
  bool premapped = false;               // ... but buffers are mapped by the caller
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

// Where a ring lies and how it is reached.
template <DriverAccess A>
struct RingPlace {
  QueueConfig config;  // has passed map_ring_areas
  A access;
  IndirectTables tables;
};

// What is added is mapped through a `Dma` that maps and unmapped on its way back,
// where ACCESS_PLATFORM is negotiated; NoDma leaves no code behind.
template <DriverAccess A, DmaApi Dma = NoDma>
class DriverRing {
 public:
  // `config` has passed map_ring_areas. Allocates; nothing later does but adopt.
  // Without `dma` addresses stay as they are.
  DriverRing(A access, const QueueConfig& config, const IndirectTables& tables = {},
             Dma* dma = nullptr)
      : access_(std::move(access)),
        tables_(tables),
        mappings_(dma, config.size, tables.host != nullptr ? tables.entries : 0),
        heads_(config.size),
        next_(config.size),
        config_(config) {
    state_.size = static_cast<std::uint16_t>(config.size);
    state_.event_idx = config.has(kFeatureRingEventIdx);
    state_.indirect = config.has(kFeatureRingIndirectDesc) && tables.host != nullptr;
    state_.maps = Dma::kMaps && dma != nullptr && config.has(kFeatureAccessPlatform);
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
    if (const RingError error = map_direct(readable, writable); error != RingError::kNone)
      return error;
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
  // it first) and unmapped. The device must have been stopped.
  void reset() requires ResettableDriverAccess<A> {
    for (std::uint16_t head = 0; head < state_.size; ++head) unmap_chain(head);
    state_ = {.size = state_.size,
              .event_idx = state_.event_idx,
              .indirect = state_.indirect,
              .maps = state_.maps,
              .premapped = state_.premapped};
    for (Head& head : heads_) head = {};
    free_all();
    access_.put_avail_flags(0);
    access_.put_avail_idx(0);
    if (state_.event_idx) access_.put_used_event(0);
    access_.clear_used(state_.event_idx);
  }

  // Nothing is added or reaped until enable(); what is in flight can be detached.
  void disable() { state_.broken = RingError::kQueueDisabled; }
  void enable() {
    if (state_.broken == RingError::kQueueDisabled) state_.broken = RingError::kNone;
  }

  // The queue, which is empty, goes on disabled in other memory, with another
  // size and the features it had. Allocates.
  void adopt(RingPlace<A> place) requires ResettableDriverAccess<A> {
    assert(state_.in_flight == 0);
    const bool premapped = state_.premapped;
    DriverRing other(std::move(place.access), place.config, place.tables, mappings_.dma());
    *this = std::move(other);
    state_.premapped = premapped;
    reset();
    disable();
  }

  // From now on buffers come with addresses that the caller has mapped, and the
  // caller unmaps them; the ring maps its indirect tables only. Needs a DmaApi
  // that is in use and a queue that is empty.
  RingError set_premapped() {
    if (!state_.maps) return RingError::kNoDmaApi;
    if (state_.in_flight > 0) return RingError::kQueueNotEmpty;
    state_.premapped = true;
    return RingError::kNone;
  }

  // What a caller maps its buffers with; null where addresses stay as they are.
  Dma* dma() const { return state_.maps ? mappings_.dma() : nullptr; }

  // Starts both free-running indices of an empty queue at `idx`, where used.idx
  // in memory stands already.
  void start(std::uint16_t idx) {
    state_.next_avail = state_.published_avail = state_.kicked_avail = idx;
    state_.used_idx = state_.last_used = idx;
    access_.put_avail_idx(idx);
  }

  const QueueConfig& config() const { return config_; }
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
      access_.put_descriptor(index, {device_addr(index, buffer), buffer.len,
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
    if (const RingError error = map_table_buffers(head, readable, writable);
        error != RingError::kNone)
      return error;
    std::uint64_t capacity = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const bool write = i >= readable.size();
      const Buffer& buffer = write ? writable[i - readable.size()] : readable[i];
      const auto flags =
          static_cast<std::uint16_t>((write ? kDescWrite : 0) | (i + 1 < count ? kDescNext : 0));
      access_.put_indirect(tables_.host + first + i,
                           {table_device_addr(head, i, buffer), buffer.len, flags,
                            static_cast<std::uint16_t>(i + 1)});
      if (write) capacity += buffer.len;
    }
    // Only now: a DMA api that bounces takes what the table holds when it is mapped.
    const Buffer table = {{tables_.base.value + first * sizeof(Desc)},
                          static_cast<std::uint32_t>(count * sizeof(Desc))};
    if (const RingError error = map_table(head, table); error != RingError::kNone) return error;
    access_.put_descriptor(head, {table_addr(head, table), table.len, kDescIndirect, 0});
    state_.free_head = next_[head];
    take(head, 1, capacity, token);
    return head;
  }

  // --- DMA: nothing of this is compiled where Dma does not map.

  // Do the ring's own mappings stand for the addresses of buffers?
  bool maps_buffers() const { return state_.maps && !state_.premapped; }

  std::uint64_t device_addr(std::size_t place, const Buffer& buffer) const {
    if constexpr (Dma::kMaps) {
      if (maps_buffers()) return mappings_.addr(place).value;
    }
    return buffer.addr.value;
  }
  std::uint64_t table_device_addr(std::uint16_t head, std::size_t entry,
                                  const Buffer& buffer) const {
    if constexpr (Dma::kMaps) return device_addr(mappings_.table_place(head) + entry, buffer);
    return buffer.addr.value;
  }
  std::uint64_t table_addr(std::uint16_t head, const Buffer& table) const {
    if constexpr (Dma::kMaps) {
      if (state_.maps) return mappings_.addr(head).value;
    }
    return table.addr.value;
  }

  // A chain that is written direct lies along the free list, and keeps its links.
  auto along_chain() const {
    return [this](std::size_t place) -> std::size_t { return next_[place]; };
  }
  static std::size_t along_table(std::size_t place) { return place + 1; }

  RingError map_direct(std::span<const Buffer> readable, std::span<const Buffer> writable) {
    if constexpr (Dma::kMaps) {
      if (maps_buffers())
        return mappings_.map_all(readable, writable, state_.free_head, along_chain());
    }
    return RingError::kNone;
  }
  RingError map_table_buffers(std::uint16_t head, std::span<const Buffer> readable,
                              std::span<const Buffer> writable) {
    if constexpr (Dma::kMaps) {
      if (!maps_buffers()) return RingError::kNone;
      const RingError error =
          mappings_.map_all(readable, writable, mappings_.table_place(head), along_table);
      if (error != RingError::kNone) return error;
      mappings_.entries(head) = static_cast<std::uint16_t>(readable.size() + writable.size());
    }
    return RingError::kNone;
  }
  RingError map_table(std::uint16_t head, const Buffer& table) {
    if constexpr (Dma::kMaps) {
      if (!state_.maps) return RingError::kNone;
      const RingError error = mappings_.map(head, table.addr, table.len, DmaDirection::kToDevice);
      if (error != RingError::kNone) unmap_table_buffers(head);
      return error;
    }
    return RingError::kNone;
  }

  void unmap_table_buffers(std::uint16_t head) {
    mappings_.unmap_all(mappings_.table_place(head), mappings_.entries(head), along_table);
    mappings_.entries(head) = 0;
  }
  // All that the chain of `head` has mapped; nothing, if it is not in flight.
  void unmap_chain(std::uint16_t head) {
    if constexpr (Dma::kMaps) {
      if (!state_.maps) return;
      mappings_.unmap_all(head, heads_[head].descriptors, along_chain());
      if (heads_[head].descriptors > 0) unmap_table_buffers(head);
    }
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
    unmap_chain(head);
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
  [[no_unique_address]] Mappings<Dma> mappings_;
  std::vector<Head> heads_;
  std::vector<std::uint16_t> next_;  // links of chains in flight and of the free list
  QueueConfig config_;               // as built, or as adopted
};

}  // namespace vringlab
