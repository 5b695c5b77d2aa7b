// A DMA api that bounces: the device sees a pool, and what is mapped is copied
// into it and out of it. For devices that reach no other memory of the guest.
#pragma once

#include <cassert>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "core/driver/dma.h"
#include "core/memory/guest_memory.h"

namespace vringlab {

struct BounceConfig {
  GuestAddr pool;                   // what the device sees; a multiple of slot_bytes
  std::uint32_t slots = 0;          // in the pool
  std::uint32_t slot_bytes = 2048;  // a mapping takes whole slots, side by side
};

struct BounceState {
  std::uint32_t cursor = 0;        // where the search for free slots begins
  std::uint32_t slots_in_use = 0;  // by live mappings
  std::uint64_t maps = 0;          // that did not fail
  std::uint64_t unmaps = 0;
  std::uint64_t copied_in = 0;   // bytes, to the pool
  std::uint64_t copied_out = 0;  // bytes, from the pool
  std::uint64_t failed = 0;      // mappings that found no room
};

class BounceDma {
 public:
  static constexpr bool kMaps = true;

  // Pool and buffers lie in `memory`. Allocates; nothing later does.
  BounceDma(const GuestMemory& memory, const BounceConfig& config)
      : memory_(&memory), config_(config), slots_(config.slots) {
    const auto pool =
        memory.contiguous(config.pool, std::uint64_t{config.slots} * config.slot_bytes);
    assert(pool.ok());
    pool_ = pool.value();
  }

  // What the device is to write is copied in as well: it may write less than it
  // has room for, and what it leaves must be what the buffer held, not what
  // another mapping left in the pool.
  Result<DmaAddr> map(GuestAddr addr, std::uint32_t len, DmaDirection way) {
    const Result<std::byte*> original = memory_->contiguous(addr, len);
    if (!original.ok()) return original.error();
    const std::uint32_t count = slots_of(len);
    const std::uint32_t first = find(count);
    if (first == config_.slots) {
      ++state_.failed;
      return RingError::kDmaMapping;
    }
    take(first, count, {original.value(), len, way});
    copy_in(slots_[first], first, 0, len);
    return DmaAddr{config_.pool.value + std::uint64_t{first} * config_.slot_bytes};
  }
  void unmap(DmaAddr dma, std::uint32_t len, DmaDirection way) {
    if (device_writes(way)) copy_out(slots_[slot_of(dma)], slot_of(dma), 0, len);
    unmap_unsynced(dma, len, way);
  }
  void unmap_unsynced(DmaAddr dma, std::uint32_t len, [[maybe_unused]] DmaDirection way) {
    const std::uint32_t first = slot_of(dma);
    [[maybe_unused]] const Slot& slot = slots_[first];
    assert(dma.value % config_.slot_bytes == config_.pool.value % config_.slot_bytes);
    assert(slot.first == first && slot.len == len && slot.way == way);
    free(first, slots_of(len));
    ++state_.unmaps;
  }

  // A part of a mapping.
  void sync_for_cpu(DmaAddr dma, std::uint32_t len, DmaDirection way) {
    const std::uint32_t first = slots_[slot_of(dma)].first;
    if (device_writes(way)) copy_out(slots_[first], first, offset(first, dma), len);
  }
  void sync_for_device(DmaAddr dma, std::uint32_t len, DmaDirection way) {
    const std::uint32_t first = slots_[slot_of(dma)].first;
    if (device_reads(way)) copy_in(slots_[first], first, offset(first, dma), len);
  }

  // Where a mapped byte is: as the device sees it, and as the driver does.
  struct Ends {
    std::byte* pool;
    std::byte* original;
  };
  Ends ends(DmaAddr dma) const {
    const std::uint32_t first = slots_[slot_of(dma)].first;
    const std::uint32_t at = offset(first, dma);
    return {bounced(first) + at, slots_[first].original + at};
  }

  const BounceState& state() const { return state_; }

 private:
  static constexpr std::uint32_t kFree = UINT32_MAX;

  struct Slot {
    std::byte* original = nullptr;  // of the mapping; in its first slot only, as len and way
    std::uint32_t len = 0;
    DmaDirection way = DmaDirection::kToDevice;
    std::uint32_t first = kFree;  // the mapping's first slot
  };

  std::uint32_t slots_of(std::uint32_t len) const {
    if (len == 0) return 1;  // it has an address all the same
    return (len - 1) / config_.slot_bytes + 1;
  }
  std::uint32_t slot_of(DmaAddr dma) const {
    const std::uint64_t slot = (dma.value - config_.pool.value) / config_.slot_bytes;
    assert(slot < config_.slots && slots_[slot].first != kFree);
    return static_cast<std::uint32_t>(slot);
  }
  std::uint32_t offset(std::uint32_t first, DmaAddr dma) const {
    return static_cast<std::uint32_t>(dma.value - config_.pool.value -
                                      std::uint64_t{first} * config_.slot_bytes);
  }
  std::byte* bounced(std::uint32_t first) const {
    return pool_ + std::size_t{first} * config_.slot_bytes;
  }

  // The first of `count` free slots side by side, from the cursor on and then from the start;
  // the number of slots, if there are none.
  std::uint32_t find(std::uint32_t count) const {
    const std::uint32_t found = find_in(state_.cursor, config_.slots, count);
    if (found != config_.slots) return found;
    return find_in(0, config_.slots, count);
  }
  std::uint32_t find_in(std::uint32_t begin, std::uint32_t end, std::uint32_t count) const {
    std::uint32_t run = 0;
    for (std::uint32_t i = begin; i < end; ++i) {
      run = slots_[i].first == kFree ? run + 1 : 0;
      if (run == count) return i + 1 - count;
    }
    return config_.slots;
  }
  void take(std::uint32_t first, std::uint32_t count, const Slot& mapping) {
    slots_[first] = mapping;
    for (std::uint32_t i = first; i < first + count; ++i) slots_[i].first = first;
    state_.cursor = first + count;
    ++state_.maps;
    state_.slots_in_use += count;
  }
  void free(std::uint32_t first, std::uint32_t count) {
    for (std::uint32_t i = first; i < first + count; ++i) slots_[i].first = kFree;
    state_.slots_in_use -= count;
  }

  void copy_in(const Slot& slot, std::uint32_t first, std::uint32_t at, std::uint32_t len) {
    assert(at <= slot.len && len <= slot.len - at);
    std::memcpy(bounced(first) + at, slot.original + at, len);
    state_.copied_in += len;
  }
  void copy_out(const Slot& slot, std::uint32_t first, std::uint32_t at, std::uint32_t len) {
    assert(at <= slot.len && len <= slot.len - at);
    std::memcpy(slot.original + at, bounced(first) + at, len);
    state_.copied_out += len;
  }

  const GuestMemory* memory_;
  BounceConfig config_;
  BounceState state_;
  std::byte* pool_ = nullptr;
  std::vector<Slot> slots_;
};
static_assert(DmaApi<BounceDma>);

}  // namespace vringlab
