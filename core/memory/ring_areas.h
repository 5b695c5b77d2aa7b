// Where the three areas of one split ring lie in host memory.
#pragma once

#include <cstdint>

#include "core/memory/guest_memory.h"
#include "core/spec/error.h"
#include "core/spec/split.h"

namespace vringlab {

// What the driver tells the device when it sets a queue up.
struct QueueConfig {
  std::uint32_t size = 0;      // entries; a power of two, at most 32768
  GuestAddr desc;              // descriptor table, 16-byte aligned
  GuestAddr avail;             // avail area, 2-byte aligned
  GuestAddr used;              // used area, 4-byte aligned
  std::uint64_t features = 0;  // negotiated feature bits

  bool has(unsigned bit) const { return (features & feature(bit)) != 0; }
};

// Host pointers of the areas; valid as long as the memory they came from.
struct RingAreas {
  Desc* desc = nullptr;
  std::uint16_t* avail = nullptr;  // as 16-bit words: flags, idx, ring[size], used_event
  std::uint16_t* used = nullptr;   // as 16-bit words: flags, idx, elements, avail_event
  std::uint16_t size = 0;          // entries

  std::uint16_t mask() const { return static_cast<std::uint16_t>(size - 1); }
  UsedElem* used_ring() const {
    return reinterpret_cast<UsedElem*>(reinterpret_cast<std::byte*>(used) + kUsedRingOffset);
  }
};

// Checks size, alignment and the whole range of each area, the event words
// included where EVENT_IDX is negotiated. An area must lie in one region: the
// engine addresses it as one array.
Result<RingAreas> map_ring_areas(const GuestMemory& memory, const QueueConfig& config);

}  // namespace vringlab
