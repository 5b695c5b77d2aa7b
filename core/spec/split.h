// Wire layout of the split virtqueue. Clause numbers are those of the
// "Virtual I/O Device (VIRTIO) Version 1.2" specification.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace vringlab {

static_assert(std::endian::native == std::endian::little,
              "virtio 1.x fields are little-endian; this engine reads them in place");

// 2.7.5: descriptor table entry.
struct Desc {
  std::uint64_t addr = 0;   // guest physical address of the buffer
  std::uint32_t len = 0;    // bytes
  std::uint16_t flags = 0;  // kDesc* below
  std::uint16_t next = 0;   // index of the next descriptor, if kDescNext
  bool operator==(const Desc&) const = default;
};
static_assert(sizeof(Desc) == 16 && offsetof(Desc, len) == 8 && offsetof(Desc, flags) == 12 &&
              offsetof(Desc, next) == 14);

inline constexpr std::uint16_t kDescNext = 1;      // 2.7.5: the chain goes on at `next`
inline constexpr std::uint16_t kDescWrite = 2;     // 2.7.5: the device writes this buffer
inline constexpr std::uint16_t kDescIndirect = 4;  // 2.7.5.3: the buffer holds a table

// 2.7.8: element of the used ring.
struct UsedElem {
  std::uint32_t id = 0;   // head of the completed chain
  std::uint32_t len = 0;  // bytes the device wrote into it
  bool operator==(const UsedElem&) const = default;
};
static_assert(sizeof(UsedElem) == 8 && offsetof(UsedElem, len) == 4);

inline constexpr std::uint16_t kAvailNoInterrupt = 1;  // 2.7.6: driver wants no call
inline constexpr std::uint16_t kUsedNoNotify = 1;      // 2.7.8: device wants no kick

// Feature bits (6.3 and 5.1.3).
inline constexpr unsigned kFeatureNetMrgRxbuf = 15;
inline constexpr unsigned kFeatureRingIndirectDesc = 28;
inline constexpr unsigned kFeatureRingEventIdx = 29;
inline constexpr unsigned kFeatureVersion1 = 32;
inline constexpr unsigned kFeatureAccessPlatform = 33;  // the device sees DMA addresses
inline constexpr unsigned kFeatureRingReset = 40;       // one queue can be reset by itself
constexpr std::uint64_t feature(unsigned bit) { return std::uint64_t{1} << bit; }

inline constexpr std::uint32_t kMaxQueueSize = 32768;  // 2.7: the largest ring

constexpr bool valid_queue_size(std::uint32_t size) {
  return size <= kMaxQueueSize && std::has_single_bit(size);
}

// Offsets, in 16-bit words or bytes, inside the avail and used areas (2.7.6,
// 2.7.8). The event words exist only where EVENT_IDX was negotiated.
inline constexpr std::size_t kRingFlagsWord = 0;
inline constexpr std::size_t kRingIdxWord = 1;
inline constexpr std::size_t kAvailRingWord = 2;
inline constexpr std::size_t kUsedRingOffset = 4;
constexpr std::size_t used_event_word(std::size_t size) { return kAvailRingWord + size; }
constexpr std::size_t avail_event_word(std::size_t size) { return 2 + 4 * size; }

// 2.7: bytes of each area and its alignment.
constexpr std::size_t desc_bytes(std::size_t size) { return sizeof(Desc) * size; }
constexpr std::size_t avail_bytes(std::size_t size, bool event_idx) {
  return 4 + 2 * size + (event_idx ? 2 : 0);
}
constexpr std::size_t used_bytes(std::size_t size, bool event_idx) {
  return 4 + sizeof(UsedElem) * size + (event_idx ? 2 : 0);
}
inline constexpr std::size_t kDescAlign = 16;
inline constexpr std::size_t kAvailAlign = 2;
inline constexpr std::size_t kUsedAlign = 4;

// 2.7.7.2, 2.7.10: has the index moved from `old_idx` to `new_idx` past `event`?
// All arithmetic is modulo 2^16; true iff event lies in [old_idx, new_idx).
constexpr bool need_event(std::uint16_t event, std::uint16_t new_idx, std::uint16_t old_idx) {
  const auto behind_event = static_cast<std::uint16_t>(new_idx - event - 1);
  const auto moved = static_cast<std::uint16_t>(new_idx - old_idx);
  return behind_event < moved;
}

// a - b modulo 2^16: how far free-running index `a` is ahead of `b`.
constexpr std::uint16_t index_distance(std::uint16_t a, std::uint16_t b) {
  return static_cast<std::uint16_t>(a - b);
}

}  // namespace vringlab
