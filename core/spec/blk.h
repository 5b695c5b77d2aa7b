// Wire layout of virtio block requests (VIRTIO 1.2, 5.2). A request is a header, data in one
// direction, and a status byte that the device writes last.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vringlab {

// 5.2.6: what every request begins with.
struct VirtioBlkReqHdr {
  std::uint32_t type = 0;    // kBlkIn and its like
  std::uint32_t ioprio = 0;  // legacy priority; reserved since 1.0
  std::uint64_t sector = 0;  // where data begins, in units of 512 bytes; 0 where there is no data
};
static_assert(sizeof(VirtioBlkReqHdr) == 16 && offsetof(VirtioBlkReqHdr, ioprio) == 4 &&
              offsetof(VirtioBlkReqHdr, sector) == 8);

inline constexpr std::uint32_t kBlkIn = 0;
inline constexpr std::uint32_t kBlkOut = 1;
inline constexpr std::uint32_t kBlkFlush = 4;
inline constexpr std::uint32_t kBlkGetId = 8;
inline constexpr std::uint32_t kBlkDiscard = 11;
inline constexpr std::uint32_t kBlkWriteZeroes = 13;

// 5.2.6: the status byte.
inline constexpr std::uint8_t kBlkStatusOk = 0;
inline constexpr std::uint8_t kBlkStatusIoErr = 1;
inline constexpr std::uint8_t kBlkStatusUnsupp = 2;

// 5.2.6: the data of a discard or a write-zeroes request is a list of these.
struct VirtioBlkSegment {
  std::uint64_t sector = 0;
  std::uint32_t num_sectors = 0;
  std::uint32_t flags = 0;  // kBlkSegmentUnmap; the other bits are reserved
};
static_assert(sizeof(VirtioBlkSegment) == 16 && offsetof(VirtioBlkSegment, num_sectors) == 8 &&
              offsetof(VirtioBlkSegment, flags) == 12);

inline constexpr std::uint32_t kBlkSegmentUnmap = 1;  // write zeroes only

inline constexpr unsigned kSectorShift = 9;
inline constexpr std::uint32_t kSectorBytes = 1u << kSectorShift;  // whatever blk_size says
inline constexpr std::uint32_t kIdBytes = 20;  // 5.2.6: of a device's name, zeros behind it

// Feature bits (5.2.3).
inline constexpr unsigned kFeatureBlkSizeMax = 1;
inline constexpr unsigned kFeatureBlkSegMax = 2;
inline constexpr unsigned kFeatureBlkRo = 5;
inline constexpr unsigned kFeatureBlkBlkSize = 6;
inline constexpr unsigned kFeatureBlkFlush = 9;
inline constexpr unsigned kFeatureBlkMq = 12;
inline constexpr unsigned kFeatureBlkDiscard = 13;
inline constexpr unsigned kFeatureBlkWriteZeroes = 14;

}  // namespace vringlab
