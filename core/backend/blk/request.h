// What a block request says, before anything is done about it: where its parts lie in the chain,
// and whether the disk takes it. Nothing here reads guest memory.
#pragma once

#include <algorithm>
#include <array>

#include "core/backend/blk/store.h"
#include "core/ring/chain.h"

namespace vringlab {

// What the driver was told about the disk.
struct BlkDisk {
  std::uint64_t capacity_sectors = 0;    // at most kMaxCapacitySectors
  bool read_only = false;                // RO offered
  bool flush = true;                     // FLUSH offered
  bool discard = true;                   // DISCARD offered
  bool write_zeroes = true;              // WRITE_ZEROES offered
  std::uint32_t max_segments = 16;       // of a discard or write-zeroes request
  std::array<char, kIdBytes> id{};       // its name, zeros behind it
  unsigned sector_shift = kSectorShift;  // 8 is a fault to study: see byte_offset
};

inline constexpr std::uint64_t kMaxCapacitySectors = UINT64_MAX >> kSectorShift;

// Where a sector begins in the store. A prototype of 2010 shifted by 8 where the format says 9, so
// that neighbours overlapped. With a shift of 8 this device does the same: the capacity is checked
// in sectors, as the format says, and the length is as the driver said; only the place is wrong.
// The product does not wrap: the sector is inside the capacity.
inline std::uint64_t byte_offset(std::uint64_t sector, const BlkDisk& disk) {
  return sector << disk.sector_shift;
}

// The parts of a request. 2.7.4: how many descriptors they are spread over, and where one ends,
// says nothing; only the order and the direction of bytes do.
struct BlkLayout {
  std::byte* status = nullptr;     // the last byte that the device may write
  std::uint32_t header_bytes = 0;  // the first that it may read; too few: no header
  std::uint32_t out_bytes = 0;     // behind the header, from the driver
  std::uint32_t in_bytes = 0;      // in front of the status, to the driver
};

// kNothingWritable: there is no place for a status.
inline Result<BlkLayout> locate_blk(const Chain& chain) {
  if (chain.writable_bytes == 0) return RingError::kNothingWritable;
  // The walk makes no empty pieces: the last byte is in the last piece.
  const Piece& last = chain.writable().back();
  const std::uint32_t header =
      std::min<std::uint32_t>(chain.readable_bytes, sizeof(VirtioBlkReqHdr));
  return BlkLayout{last.host + last.len - 1, header, chain.readable_bytes - header,
                   chain.writable_bytes - 1};
}

// The pieces behind the header, which is there. Cuts the first one in place, so once a walk.
inline std::span<const Piece> pieces_out(const Chain& chain) {
  std::span<Piece> pieces = chain.room.first(chain.readable_count);
  std::uint32_t skip = sizeof(VirtioBlkReqHdr);
  while (skip > 0 && skip >= pieces.front().len) {
    skip -= pieces.front().len;
    pieces = pieces.subspan(1);
  }
  if (skip > 0) pieces.front() = {pieces.front().host + skip, pieces.front().len - skip};
  return pieces;
}

// The pieces in front of the status, which is there. Cuts the last one in place, so once a walk.
inline std::span<const Piece> pieces_in(const Chain& chain) {
  const auto count = chain.piece_count - chain.readable_count;
  const std::span<Piece> pieces = chain.room.subspan(chain.readable_count, count);
  return --pieces.back().len == 0 ? pieces.first(count - 1) : pieces;
}

// What is to be done, or the status that says why not.
struct BlkRequest {
  BlkStatus status = BlkStatus::kOk;  // anything else: nothing is to be done
  bool identify = false;              // answered without the store
  BlkOp op = BlkOp::kRead;            // otherwise
  std::uint64_t offset_bytes = 0;     // of kRead and kWrite
  std::uint32_t bytes = 0;            // of data, or of the list of segments
};

inline BlkRequest refuse_blk(BlkStatus status) { return {.status = status}; }

// Sums can't wrap: nothing is added.
inline bool inside_capacity(std::uint64_t sector, std::uint64_t sectors, const BlkDisk& disk) {
  return sector <= disk.capacity_sectors && sectors <= disk.capacity_sectors - sector;
}

// `wrong_way`: bytes of data that go against the direction of the request.
inline BlkRequest parse_transfer(BlkOp op, std::uint64_t sector, std::uint32_t bytes,
                                 std::uint32_t wrong_way, const BlkDisk& disk) {
  const bool good = wrong_way == 0 && bytes % kSectorBytes == 0 &&
                    inside_capacity(sector, bytes / kSectorBytes, disk);
  if (!good) return refuse_blk(BlkStatus::kIoErr);
  return {.op = op, .offset_bytes = byte_offset(sector, disk), .bytes = bytes};
}

// The list as a whole; each of its segments has to pass parse_segment too.
inline BlkRequest parse_segments(BlkOp op, bool offered, const BlkLayout& layout,
                                 const BlkDisk& disk) {
  if (!offered) return refuse_blk(BlkStatus::kUnsupp);
  const std::uint32_t bytes = layout.out_bytes;
  const bool good = !disk.read_only && layout.in_bytes == 0 && bytes > 0 &&
                    bytes % sizeof(VirtioBlkSegment) == 0 &&
                    bytes / sizeof(VirtioBlkSegment) <= disk.max_segments;
  if (!good) return refuse_blk(BlkStatus::kIoErr);
  return {.op = op, .bytes = bytes};
}

// 5.2.6.2: flags that the device doesn't know, and UNMAP of a discard, are not supported.
inline BlkStatus parse_segment(const VirtioBlkSegment& segment, BlkOp op, const BlkDisk& disk,
                               BlkRange& range) {
  const std::uint32_t known = op == BlkOp::kWriteZeroes ? kBlkSegmentUnmap : 0;
  if ((segment.flags & ~known) != 0) return BlkStatus::kUnsupp;
  if (!inside_capacity(segment.sector, segment.num_sectors, disk)) return BlkStatus::kIoErr;
  range = {.offset_bytes = byte_offset(segment.sector, disk),
           .bytes = std::uint64_t{segment.num_sectors} * kSectorBytes,
           .unmap = op == BlkOp::kDiscard || segment.flags != 0};
  return BlkStatus::kOk;
}

// `header` was copied once, and the guest can't change it any more.
inline BlkRequest parse_blk(const VirtioBlkReqHdr& header, const BlkLayout& layout,
                            const BlkDisk& disk) {
  switch (header.type) {
    case kBlkIn:
      return parse_transfer(BlkOp::kRead, header.sector, layout.in_bytes, layout.out_bytes, disk);
    case kBlkOut:
      if (disk.read_only) return refuse_blk(BlkStatus::kIoErr);
      return parse_transfer(BlkOp::kWrite, header.sector, layout.out_bytes, layout.in_bytes, disk);
    case kBlkFlush:
      // 5.2.6.1: a flush should bring no data; what it brings means nothing.
      if (!disk.flush) return refuse_blk(BlkStatus::kUnsupp);
      return {.op = BlkOp::kFlush};
    case kBlkGetId:
      return {.identify = true, .bytes = std::min(layout.in_bytes, kIdBytes)};
    case kBlkDiscard:
      return parse_segments(BlkOp::kDiscard, disk.discard, layout, disk);
    case kBlkWriteZeroes:
      return parse_segments(BlkOp::kWriteZeroes, disk.write_zeroes, layout, disk);
    default:
      return refuse_blk(BlkStatus::kUnsupp);
  }
}

}  // namespace vringlab
