#include "core/ring/walk.h"

#include <gtest/gtest.h>

#include "core/memory/direct_access.h"
#include "tests/double/hostile_chains.h"
#include "tests/double/spy_access.h"

namespace vringlab {
namespace {

using test::HostileChain;
using test::kHostileRingSize;
using test::RawGuest;
using test::RawRing;
using test::Spy;
using test::SpyAccess;
using test::SpyPayload;

// Guest memory with one chain at descriptor 0, and the walk over it.
struct Walk {
  RawGuest guest;
  RawRing ring;
  Spy spy;
  std::vector<Piece> room;
  Chain chain;

  explicit Walk(std::uint64_t features = 0, test::Layout layout = test::Layout::kOne)
      : guest(test::regions_of(layout)),
        ring(guest, kHostileRingSize, features),
        room(chain_room(kHostileRingSize, guest.regions())) {
    chain.room = room;
  }
  RingError run() {
    SpyAccess access(ring.areas, spy);
    SpyPayload payload(guest.memory(), spy);
    chain.start(0);
    return walk_chain(access, payload, kHostileRingSize, ring.config.has(kFeatureRingIndirectDesc),
                      chain);
  }
};

std::uint64_t sum(std::span<const Piece> pieces) {
  std::uint64_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.len;
  return bytes;
}

// w1 to w18, except those that need more than a chain; see the table.
class HostileRows : public testing::TestWithParam<HostileChain> {};

TEST_P(HostileRows, ends_as_it_should) {
  const HostileChain& row = GetParam();
  Walk walk(row.features, row.layout);
  row.build(walk.guest, walk.ring);
  EXPECT_EQ(walk.run(), row.error) << describe(row.error);
  if (row.error != RingError::kNone) return;
  EXPECT_EQ(walk.chain.readable_bytes, row.bytes);
  EXPECT_EQ(sum(walk.chain.readable()), row.bytes);
  EXPECT_EQ(walk.chain.writable_bytes, 0u);
}

TEST_P(HostileRows, w13_reads_each_descriptor_at_most_once_or_is_a_loop) {
  const HostileChain& row = GetParam();
  Walk walk(row.features, row.layout);
  row.build(walk.guest, walk.ring);
  walk.run();
  std::uint32_t reads = 0;
  for (const std::uint32_t count : walk.spy.descriptor_reads) {
    reads += count;
    EXPECT_TRUE(count <= 1 || row.error == RingError::kChainTooLong);
  }
  EXPECT_LE(reads, kHostileRingSize);
}

INSTANTIATE_TEST_SUITE_P(Walk, HostileRows, testing::ValuesIn(test::hostile_chains()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Walk, splits_a_chain_into_readable_and_writable) {
  Walk walk;
  walk.ring.desc(0) = {0x1000, 16, kDescNext, 3};
  walk.ring.desc(3) = {0x2000, 512, kDescNext | kDescWrite, 1};
  walk.ring.desc(1) = {0x3000, 1, kDescWrite, 0};
  ASSERT_EQ(walk.run(), RingError::kNone);
  EXPECT_EQ(walk.chain.descriptors, 3);
  ASSERT_EQ(walk.chain.readable().size(), 1u);
  EXPECT_EQ(walk.chain.readable()[0].host, &walk.guest.byte(0x1000));
  ASSERT_EQ(walk.chain.writable().size(), 2u);
  EXPECT_EQ(walk.chain.writable()[0].host, &walk.guest.byte(0x2000));
  EXPECT_EQ(walk.chain.writable()[1].host, &walk.guest.byte(0x3000));
  EXPECT_EQ(walk.chain.readable_bytes, 16u);
  EXPECT_EQ(walk.chain.writable_bytes, 513u);
}

TEST(Walk, w12_pieces_on_both_sides_of_a_seam_are_those_of_the_guest) {
  Walk walk(0, test::Layout::kSeam);
  walk.ring.desc(0) = {0xfff0, 64, 0, 0};
  ASSERT_EQ(walk.run(), RingError::kNone);
  ASSERT_EQ(walk.chain.readable().size(), 2u);
  EXPECT_EQ(walk.chain.readable()[0].host, &walk.guest.byte(0xfff0));
  EXPECT_EQ(walk.chain.readable()[1].host, &walk.guest.byte(0x10000));
  EXPECT_EQ(walk.chain.readable()[1].len, 48u);
}

// Every address is memory: isolates the sum of the lengths.
struct Anywhere : DirectPayload {
  Result<std::size_t> translate(GuestAddr, std::uint32_t len, std::span<Piece> out) const {
    if (len == 0) return std::size_t{0};
    out[0] = {nullptr, len};
    return std::size_t{1};
  }
};

RingError walk_two(const Desc& first, const Desc& second) {
  RawGuest guest({{0, 0x1000}});
  RawRing ring(guest, 2);
  ring.desc(0) = first;
  ring.desc(1) = second;
  DirectAccess access(ring.areas);
  Anywhere payload{DirectPayload(guest.memory())};
  std::array<Piece, 2> room;
  Chain chain{.room = room};
  chain.start(0);
  return walk_chain(access, payload, 2, false, chain);
}

TEST(HostileWalk, w05_lengths_overflow) {
  EXPECT_EQ(walk_two({0x1000, 0xffffffff, kDescNext, 1}, {0x1000, 0x12345678, 0, 0}),
            RingError::kChainBytesOverflow);
  EXPECT_EQ(walk_two({0x1000, 0xffffffff, kDescNext, 1}, {0x1000, 1, 0, 0}),
            RingError::kChainBytesOverflow);
  EXPECT_EQ(walk_two({0x1000, 0xffffffff, kDescNext, 1}, {0x1000, 0, 0, 0}), RingError::kNone);
  EXPECT_EQ(walk_two({0x1000, 0xfffffffe, kDescNext, 1}, {0x1000, 1, 0, 0}), RingError::kNone);
}

TEST(HostileWalk, w05_writable_bytes_count_too) {
  EXPECT_EQ(walk_two({0x1000, 0xffffffff, kDescNext, 1}, {0x1000, 1, kDescWrite, 0}),
            RingError::kChainBytesOverflow);
  EXPECT_EQ(walk_two({0x1000, 0xfffffffe, kDescNext, 1}, {0x1000, 1, kDescWrite, 0}),
            RingError::kNone);
  constexpr std::uint16_t kNextWrite = kDescNext | kDescWrite;
  EXPECT_EQ(walk_two({0x1000, 0xffffffff, kNextWrite, 1}, {0x1000, 1, kDescWrite, 0}),
            RingError::kChainBytesOverflow);
  EXPECT_EQ(walk_two({0x1000, 0xfffffffe, kNextWrite, 1}, {0x1000, 1, kDescWrite, 0}),
            RingError::kNone);
}

// A driver that turns each descriptor into something else once it was read. Were
// a field read again, the walk would end elsewhere.
TEST(HostileWalk, w13_rewritten_descriptor) {
  Walk walk;
  walk.ring.desc(0) = {0x1000, 16, kDescNext, 1};
  walk.ring.desc(1) = {0x2000, 32, 0, 0};
  walk.spy.after_descriptor = [&](std::uint16_t index) {
    walk.ring.desc(index) = {test::kTop, 0xffffffff, kDescNext | kDescWrite, 0xffff};
  };
  ASSERT_EQ(walk.run(), RingError::kNone);
  EXPECT_EQ(walk.chain.readable_bytes, 48u);
  EXPECT_EQ(walk.chain.readable()[1].host, &walk.guest.byte(0x2000));
  EXPECT_EQ(walk.spy.descriptor_reads[0], 1u);
  EXPECT_EQ(walk.spy.descriptor_reads[1], 1u);
}

TEST(HostileWalk, w13_rewritten_table) {
  Walk walk(test::kIndirect);
  test::put_table(walk.guest, walk.ring, 0x2000, test::links(3, false));
  walk.spy.after_descriptor = [&](std::uint16_t index) {
    walk.ring.desc(index) = {test::kTop, 0xffffffff, kDescIndirect, 0xffff};
  };
  walk.spy.after_indirect = [&](const std::byte* source) {
    const auto offset = static_cast<std::uint64_t>(source - &walk.guest.byte(0));
    walk.guest.write(offset, Desc{test::kTop, 0xffffffff, kDescIndirect, 0xffff});
  };
  ASSERT_EQ(walk.run(), RingError::kNone);
  EXPECT_EQ(walk.chain.readable_bytes, 12u);
  EXPECT_EQ(walk.spy.descriptor_reads[0], 1u);
  EXPECT_EQ(walk.spy.indirect_copies, 3u);
}

TEST(HostileWalk, w18_writes_nothing) {
  Walk walk(0, test::Layout::kSeam);
  walk.ring.desc(0) = {0x4000, 16, kDescNext | kDescWrite, 1};
  walk.ring.desc(1) = {0x4000, 1u << 30, kDescWrite, 0};
  walk.guest.fill(0x4000, 0x1000);
  EXPECT_EQ(walk.run(), RingError::kAddressOutsideMemory);
  for (std::uint64_t i = 0; i < 0x1000; ++i)
    ASSERT_EQ(walk.guest.byte(0x4000 + i), test::RawGuest::pattern(1 + i));
}

// A chain may have no more descriptors than the ring, wherever they stand; what
// exceeds the room is refused, not written.
// A plain descriptor before a table counts: N in all are a chain, N + 1 are not.
TEST(HostileWalk, plain_and_indirect_descriptors_are_one_chain) {
  for (const std::uint16_t entries : {std::uint16_t{7}, std::uint16_t{8}}) {
    Walk walk(test::kIndirect);
    test::put_table(walk.guest, walk.ring, 0x2000, test::links(entries, false));
    walk.ring.desc(1) = walk.ring.desc(0);
    walk.ring.desc(0) = {0x1000, 8, kDescNext, 1};
    EXPECT_EQ(walk.run(), entries == 7 ? RingError::kNone : RingError::kChainTooLong);
  }
}

}  // namespace
}  // namespace vringlab
