#include "core/backend/blk/request.h"

#include <gtest/gtest.h>

#include <vector>

namespace vringlab {
namespace {

constexpr std::uint64_t kCapacity = 100;
constexpr BlkDisk kDisk{.capacity_sectors = kCapacity};
constexpr std::uint64_t kMax = UINT64_MAX;

using Lengths = std::vector<std::uint32_t>;

// A chain of pieces of the given lengths over one array, readable ones first.
struct Pieces {
  std::vector<std::byte> bytes = std::vector<std::byte>(8192);
  std::vector<Piece> room;
  Chain chain;

  Pieces(const Lengths& readable, const Lengths& writable) {
    std::byte* at = bytes.data();
    for (const Lengths* lengths : {&readable, &writable}) {
      for (const std::uint32_t len : *lengths) {
        room.push_back({at, len});
        at += len;
      }
    }
    chain.room = room;
    chain.readable_count = static_cast<std::uint32_t>(readable.size());
    chain.piece_count = static_cast<std::uint32_t>(room.size());
    for (const std::uint32_t len : readable) chain.readable_bytes += len;
    for (const std::uint32_t len : writable) chain.writable_bytes += len;
  }
  std::ptrdiff_t offset(const std::byte* host) const { return host - bytes.data(); }
};

Lengths lengths(std::span<const Piece> pieces) {
  Lengths result;
  for (const Piece& piece : pieces) result.push_back(piece.len);
  return result;
}

TEST(LocateBlk, status_is_the_last_writable_byte) {
  const Pieces plain({16}, {512, 1});
  EXPECT_EQ(plain.offset(locate_blk(plain.chain).value().status), 16 + 512);
  const Pieces shared({16}, {513});
  EXPECT_EQ(shared.offset(locate_blk(shared.chain).value().status), 16 + 512);
  for (const Pieces* pieces : {&plain, &shared}) {
    const BlkLayout layout = locate_blk(pieces->chain).value();
    EXPECT_EQ(layout.header_bytes, 16u);
    EXPECT_EQ(layout.out_bytes, 0u);
    EXPECT_EQ(layout.in_bytes, 512u);
  }
}

TEST(LocateBlk, b4_nothing_writable) {
  EXPECT_EQ(locate_blk(Pieces({16, 512}, {}).chain).error(), RingError::kNothingWritable);
  EXPECT_TRUE(locate_blk(Pieces({}, {1}).chain).ok());
}

TEST(LocateBlk, a_short_header) {
  EXPECT_EQ(locate_blk(Pieces({15}, {1}).chain).value().header_bytes, 15u);
  EXPECT_EQ(locate_blk(Pieces({15}, {1}).chain).value().out_bytes, 0u);
  EXPECT_EQ(locate_blk(Pieces({17}, {1}).chain).value().out_bytes, 1u);
}

TEST(PiecesOut, b5_begin_behind_the_header) {
  const std::pair<Lengths, Lengths> rows[] = {
      {{16, 512}, {512}}, {{528}, {512}},        {{8, 8, 512}, {512}}, {{8, 520}, {512}},
      {{15, 513}, {512}}, {{17, 511}, {1, 511}}, {{1, 1, 14}, {}}};
  for (const auto& [readable, expected] : rows) {
    const Pieces pieces(readable, {1});
    const auto out = pieces_out(pieces.chain);
    EXPECT_EQ(lengths(out), expected);
    if (!out.empty()) {
      EXPECT_EQ(pieces.offset(out.front().host), 16);
    }
  }
}

TEST(PiecesIn, end_before_the_status) {
  const std::pair<Lengths, Lengths> rows[] = {
      {{512, 1}, {512}}, {{513}, {512}}, {{300, 212, 1}, {300, 212}}, {{1}, {}}, {{1, 1}, {1}}};
  for (const auto& [writable, expected] : rows) {
    const Pieces pieces({16}, writable);
    EXPECT_EQ(lengths(pieces_in(pieces.chain)), expected);
  }
}

BlkRequest parsed(std::uint32_t type, std::uint64_t sector, std::uint32_t out, std::uint32_t in,
                  const BlkDisk& disk = kDisk) {
  return parse_blk({.type = type, .sector = sector}, {.out_bytes = out, .in_bytes = in}, disk);
}

TEST(ParseBlk, reads_and_writes) {
  const BlkRequest read = parsed(kBlkIn, 3, 0, 1024);
  EXPECT_EQ(read.status, BlkStatus::kOk);
  EXPECT_EQ(read.op, BlkOp::kRead);
  EXPECT_EQ(read.offset_bytes, 3u * 512);
  EXPECT_EQ(read.bytes, 1024u);
  const BlkRequest write = parsed(kBlkOut, 99, 512, 0);
  EXPECT_EQ(write.status, BlkStatus::kOk);
  EXPECT_EQ(write.op, BlkOp::kWrite);
  EXPECT_EQ(write.offset_bytes, 99u * 512);
}

// Each place with the longest request that fits there.
TEST(ParseBlk, b1_the_capacity_is_checked_against_the_sum) {
  const std::pair<std::uint64_t, std::uint32_t> fits[] = {{0, 100}, {98, 2}, {99, 1}, {100, 0}};
  for (const auto& [sector, sectors] : fits) {
    EXPECT_EQ(parsed(kBlkIn, sector, 0, sectors * 512).status, BlkStatus::kOk) << sector;
    EXPECT_EQ(parsed(kBlkIn, sector, 0, sectors * 512 + 512).status, BlkStatus::kIoErr) << sector;
    EXPECT_EQ(parsed(kBlkOut, sector, sectors * 512 + 512, 0).status, BlkStatus::kIoErr) << sector;
  }
  EXPECT_EQ(parsed(kBlkIn, 101, 0, 0).status, BlkStatus::kIoErr);
}

TEST(ParseBlk, b2_no_sector_wraps) {
  for (const std::uint64_t sector :
       {kMax, kMax - 1, std::uint64_t{1} << 55, (kMax >> 9) + 1, kMax >> 9})
    for (const std::uint32_t bytes : {0u, 512u, 1024u, 51200u})
      EXPECT_EQ(parsed(kBlkOut, sector, bytes, 0).status, BlkStatus::kIoErr) << sector;
  const BlkDisk huge{.capacity_sectors = kMaxCapacitySectors};
  const BlkRequest last = parsed(kBlkIn, kMaxCapacitySectors - 1, 0, 512, huge);
  EXPECT_EQ(last.status, BlkStatus::kOk);
  EXPECT_EQ(last.offset_bytes, (kMaxCapacitySectors - 1) * 512);
}

TEST(ParseBlk, b3_whole_sectors_only) {
  for (const std::uint32_t bytes : {1u, 500u, 511u, 513u})
    EXPECT_EQ(parsed(kBlkIn, 0, 0, bytes).status, BlkStatus::kIoErr) << bytes;
  for (const std::uint32_t bytes : {0u, 512u, 1024u})
    EXPECT_EQ(parsed(kBlkOut, 0, bytes, 0).status, BlkStatus::kOk) << bytes;
}

TEST(ParseBlk, data_goes_one_way) {
  EXPECT_EQ(parsed(kBlkIn, 0, 1, 512).status, BlkStatus::kIoErr);
  EXPECT_EQ(parsed(kBlkOut, 0, 512, 1).status, BlkStatus::kIoErr);
  EXPECT_EQ(parsed(kBlkDiscard, 0, 16, 1).status, BlkStatus::kIoErr);
}

TEST(ParseBlk, b7_a_read_only_disk_is_read) {
  const BlkDisk disk{.capacity_sectors = kCapacity, .read_only = true};
  EXPECT_EQ(parsed(kBlkIn, 0, 0, 512, disk).status, BlkStatus::kOk);
  EXPECT_EQ(parsed(kBlkFlush, 0, 0, 0, disk).status, BlkStatus::kOk);
  EXPECT_EQ(parsed(kBlkOut, 0, 512, 0, disk).status, BlkStatus::kIoErr);
  EXPECT_EQ(parsed(kBlkOut, 0, 0, 0, disk).status, BlkStatus::kIoErr);
  EXPECT_EQ(parsed(kBlkDiscard, 0, 16, 0, disk).status, BlkStatus::kIoErr);
  EXPECT_EQ(parsed(kBlkWriteZeroes, 0, 16, 0, disk).status, BlkStatus::kIoErr);
}

TEST(ParseBlk, b8_an_identity_is_twenty_bytes_at_most) {
  for (const auto& [room, bytes] : {std::pair{0u, 0u}, {10u, 10u}, {20u, 20u}, {30u, 20u}}) {
    const BlkRequest request = parsed(kBlkGetId, 0, 0, room);
    EXPECT_EQ(request.status, BlkStatus::kOk);
    EXPECT_TRUE(request.identify);
    EXPECT_EQ(request.bytes, bytes);
  }
}

TEST(ParseBlk, b9_what_is_not_known_or_not_offered_is_not_supported) {
  for (const std::uint32_t type : {2u, 3u, 5u, 7u, 9u, 10u, 12u, 14u, 0x80000000u, UINT32_MAX})
    EXPECT_EQ(parsed(type, 0, 0, 512).status, BlkStatus::kUnsupp) << type;
  const BlkDisk bare{
      .capacity_sectors = kCapacity, .flush = false, .discard = false, .write_zeroes = false};
  for (const std::uint32_t type : {kBlkFlush, kBlkDiscard, kBlkWriteZeroes}) {
    EXPECT_EQ(parsed(type, 0, 16, 0, bare).status, BlkStatus::kUnsupp) << type;
    EXPECT_EQ(parsed(type, 0, 16, 0).status, BlkStatus::kOk) << type;
  }
}

TEST(ParseBlk, a_flush_has_no_place) {
  const BlkRequest request = parsed(kBlkFlush, kMax, 3, 5);
  EXPECT_EQ(request.status, BlkStatus::kOk);
  EXPECT_EQ(request.op, BlkOp::kFlush);
  EXPECT_EQ(request.bytes, 0u);
}

TEST(ParseBlk, lists_of_segments) {
  BlkDisk disk{.capacity_sectors = kCapacity, .max_segments = 3};
  for (const std::uint32_t type : {kBlkDiscard, kBlkWriteZeroes}) {
    for (const std::uint32_t bytes : {16u, 32u, 48u}) {
      EXPECT_EQ(parsed(type, kMax, bytes, 0, disk).status, BlkStatus::kOk) << bytes;
      EXPECT_EQ(parsed(type, kMax, bytes, 0, disk).bytes, bytes);
    }
    for (const std::uint32_t bytes : {0u, 1u, 15u, 17u, 64u})
      EXPECT_EQ(parsed(type, 0, bytes, 0, disk).status, BlkStatus::kIoErr) << bytes;
  }
  EXPECT_EQ(parsed(kBlkDiscard, 0, 16, 0).op, BlkOp::kDiscard);
  EXPECT_EQ(parsed(kBlkWriteZeroes, 0, 16, 0).op, BlkOp::kWriteZeroes);
}

BlkStatus segment_status(const VirtioBlkSegment& segment, BlkOp op) {
  BlkRange range;
  return parse_segment(segment, op, kDisk, range);
}

TEST(ParseSegment, bounds) {
  for (const BlkOp op : {BlkOp::kDiscard, BlkOp::kWriteZeroes}) {
    EXPECT_EQ(segment_status({0, 100, 0}, op), BlkStatus::kOk);
    EXPECT_EQ(segment_status({0, 101, 0}, op), BlkStatus::kIoErr);
    EXPECT_EQ(segment_status({99, 1, 0}, op), BlkStatus::kOk);
    EXPECT_EQ(segment_status({99, 2, 0}, op), BlkStatus::kIoErr);
    EXPECT_EQ(segment_status({100, 0, 0}, op), BlkStatus::kOk);
    EXPECT_EQ(segment_status({kMax, 1, 0}, op), BlkStatus::kIoErr);
    EXPECT_EQ(segment_status({kMax - 4, 5, 0}, op), BlkStatus::kIoErr);
    EXPECT_EQ(segment_status({1, UINT32_MAX, 0}, op), BlkStatus::kIoErr);
  }
}

TEST(ParseSegment, flags) {
  EXPECT_EQ(segment_status({0, 1, kBlkSegmentUnmap}, BlkOp::kWriteZeroes), BlkStatus::kOk);
  EXPECT_EQ(segment_status({0, 1, kBlkSegmentUnmap}, BlkOp::kDiscard), BlkStatus::kUnsupp);
  for (const std::uint32_t flags : {2u, 3u, 0x80000000u}) {
    EXPECT_EQ(segment_status({0, 1, flags}, BlkOp::kWriteZeroes), BlkStatus::kUnsupp);
    EXPECT_EQ(segment_status({0, 1, flags}, BlkOp::kDiscard), BlkStatus::kUnsupp);
  }
}

TEST(ParseSegment, ranges) {
  BlkRange range;
  EXPECT_EQ(parse_segment({7, 5, 0}, BlkOp::kWriteZeroes, kDisk, range), BlkStatus::kOk);
  EXPECT_EQ(range.offset_bytes, 7u * 512);
  EXPECT_EQ(range.bytes, 5u * 512);
  EXPECT_FALSE(range.unmap);
  EXPECT_EQ(parse_segment({7, 5, 1}, BlkOp::kWriteZeroes, kDisk, range), BlkStatus::kOk);
  EXPECT_TRUE(range.unmap);
  EXPECT_EQ(parse_segment({7, 5, 0}, BlkOp::kDiscard, kDisk, range), BlkStatus::kOk);
  EXPECT_TRUE(range.unmap);
  const BlkDisk huge{.capacity_sectors = kMaxCapacitySectors};
  EXPECT_EQ(parse_segment({0, UINT32_MAX, 0}, BlkOp::kDiscard, huge, range), BlkStatus::kOk);
  EXPECT_EQ(range.bytes, std::uint64_t{UINT32_MAX} * 512);
}

// The prototype of 2010: neighbours overlap, and the capacity is checked all the same.
TEST(ParseBlk, a_shift_of_8_moves_the_place_only) {
  const BlkDisk disk{.capacity_sectors = kCapacity, .sector_shift = 8};
  EXPECT_EQ(parsed(kBlkOut, 3, 1024, 0, disk).offset_bytes, 3u * 256);
  EXPECT_EQ(parsed(kBlkOut, 3, 1024, 0, disk).bytes, 1024u);
  EXPECT_EQ(parsed(kBlkOut, 99, 512, 0, disk).status, BlkStatus::kOk);
  EXPECT_EQ(parsed(kBlkOut, 100, 512, 0, disk).status, BlkStatus::kIoErr);
  BlkRange range;
  EXPECT_EQ(parse_segment({3, 2, 0}, BlkOp::kDiscard, disk, range), BlkStatus::kOk);
  EXPECT_EQ(range.offset_bytes, 3u * 256);
  EXPECT_EQ(range.bytes, 1024u);
}

}  // namespace
}  // namespace vringlab
