#include "core/backend/blk/execute.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "core/memory/direct_access.h"

namespace vringlab {
namespace {

const GuestMemory kNoMemory({});

// Bytes cut into pieces of the given lengths.
std::vector<Piece> cut(std::span<std::byte> bytes, const std::vector<std::uint32_t>& lengths) {
  std::vector<Piece> pieces;
  for (const std::uint32_t len : lengths) {
    pieces.push_back({bytes.data(), len});
    bytes = bytes.subspan(len);
  }
  return pieces;
}

// The same bytes in pieces of the given lengths, each an allocation of its own.
struct Apart {
  std::vector<std::vector<std::byte>> blocks;
  std::vector<Piece> pieces;

  Apart(std::span<const std::byte> bytes, const std::vector<std::uint32_t>& lengths) {
    for (const std::uint32_t len : lengths) {
      blocks.emplace_back(bytes.begin(), bytes.begin() + len);
      pieces.push_back({blocks.back().data(), len});
      bytes = bytes.subspan(len);
    }
  }
};

TEST(CopyBlkHeader, b5_whatever_the_descriptors) {
  const VirtioBlkReqHdr wire{.type = kBlkOut, .ioprio = 7, .sector = 0x123456789abcdef};
  std::vector<std::byte> bytes(32, std::byte{0xee});
  std::memcpy(bytes.data(), &wire, sizeof(wire));
  DirectPayload payload(kNoMemory);
  const std::vector<std::uint32_t> splits[] = {{16}, {8, 8}, {15, 1}, {1, 15}, {32}, {15, 17}};
  for (const auto& lengths : splits) {
    Apart apart(bytes, lengths);
    Chain chain{.room = apart.pieces};
    chain.readable_count = chain.piece_count = static_cast<std::uint32_t>(lengths.size());
    const VirtioBlkReqHdr header = copy_blk_header(payload, chain);
    EXPECT_EQ(header.type, wire.type);
    EXPECT_EQ(header.ioprio, wire.ioprio);
    EXPECT_EQ(header.sector, wire.sector);
  }
}

// What copy_ranges makes of segments that lie in two pieces.
struct Copied {
  std::vector<BlkRange> ranges;
  BlkStatus status;
};
Copied copied(std::vector<VirtioBlkSegment> segments, std::uint32_t first_piece) {
  DirectPayload payload(kNoMemory);
  const auto bytes = std::as_writable_bytes(std::span(segments));
  const auto length = static_cast<std::uint32_t>(bytes.size());
  const auto pieces = cut(bytes, {first_piece, length - first_piece});
  Copied result{std::vector<BlkRange>(segments.size()), BlkStatus::kOk};
  result.ranges.resize(copy_ranges(payload, pieces, {.op = BlkOp::kWriteZeroes, .bytes = length},
                                   {.capacity_sectors = 100}, result.ranges, result.status));
  return result;
}

TEST(CopyRanges, in_any_split) {
  for (const std::uint32_t first : {0u, 1u, 16u, 20u, 47u}) {
    const Copied all = copied({{1, 2, 0}, {10, 90, 1}, {5, 0, 0}}, first);
    EXPECT_EQ(all.status, BlkStatus::kOk);
    ASSERT_EQ(all.ranges.size(), 3u);
    EXPECT_EQ(all.ranges[0].offset_bytes, 512u);
    EXPECT_EQ(all.ranges[1].offset_bytes, 5120u);
    EXPECT_EQ(all.ranges[1].bytes, 90u * 512);
    EXPECT_TRUE(all.ranges[1].unmap);
    EXPECT_EQ(all.ranges[2].bytes, 0u);
  }
}

TEST(CopyRanges, one_that_is_wrong_is_enough) {
  EXPECT_EQ(copied({{1, 2, 0}, {10, 91, 0}}, 16).status, BlkStatus::kIoErr);
  EXPECT_TRUE(copied({{1, 2, 0}, {10, 91, 0}}, 16).ranges.empty());
  EXPECT_EQ(copied({{1, 2, 4}, {10, 91, 0}}, 16).status, BlkStatus::kUnsupp);
  EXPECT_EQ(copied({{10, 91, 0}, {1, 2, 4}}, 16).status, BlkStatus::kIoErr);
}

TEST(WriteIdentity, b8_no_more_than_asked_for) {
  BlkDisk disk;
  for (std::size_t i = 0; i < disk.id.size(); ++i) disk.id[i] = static_cast<char>('a' + i);
  DirectPayload payload(kNoMemory);
  std::vector<std::byte> bytes(40, std::byte{0xee});
  const auto pieces = cut(bytes, {7, 23});
  write_identity(payload, pieces, {.bytes = 20}, disk);
  EXPECT_EQ(bytes[0], std::byte{'a'});
  EXPECT_EQ(bytes[19], std::byte{'t'});
  EXPECT_EQ(bytes[20], std::byte{0xee});
  std::ranges::fill(bytes, std::byte{0xee});
  write_identity(payload, pieces, {.bytes = 10}, disk);
  EXPECT_EQ(bytes[9], std::byte{'j'});
  EXPECT_EQ(bytes[10], std::byte{0xee});
}

TEST(WriteStatus, one_byte) {
  DirectPayload payload(kNoMemory);
  std::byte bytes[3] = {std::byte{0xee}, std::byte{0xee}, std::byte{0xee}};
  write_status(payload, &bytes[1], BlkStatus::kUnsupp);
  EXPECT_EQ(bytes[0], std::byte{0xee});
  EXPECT_EQ(bytes[1], std::byte{2});
  EXPECT_EQ(bytes[2], std::byte{0xee});
}

}  // namespace
}  // namespace vringlab
