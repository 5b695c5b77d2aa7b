#include "core/memory/guest_memory.h"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

#include "tests/double/raw_guest.h"

namespace vringlab {
namespace {

using test::RawGuest;

std::array<Piece, 4> out;

std::uint64_t bytes_of(std::size_t count) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += out[i].len;
  return sum;
}

TEST(Translate, inside_one_region_is_one_piece) {
  RawGuest guest({{0x1000, 0x1000}});
  const auto count = guest.memory().translate({0x1010}, 0x20, out);
  ASSERT_TRUE(count.ok());
  ASSERT_EQ(count.value(), 1u);
  EXPECT_EQ(out[0].host, &guest.byte(0x1010));
  EXPECT_EQ(out[0].len, 0x20u);
}

TEST(Translate, before_and_behind_a_region_is_outside) {
  RawGuest guest({{0x1000, 0x1000}});
  EXPECT_EQ(guest.memory().translate({0xfff}, 1, out).error(), RingError::kAddressOutsideMemory);
  EXPECT_TRUE(guest.memory().translate({0x1000}, 1, out).ok());
  EXPECT_TRUE(guest.memory().translate({0x1fff}, 1, out).ok());
  EXPECT_EQ(guest.memory().translate({0x2000}, 1, out).error(), RingError::kAddressOutsideMemory);
}

TEST(Translate, nothing_is_no_piece_wherever_it_lies) {
  RawGuest guest({{0x1000, 0x1000}});
  for (const std::uint64_t addr : {0x0ull, 0x1000ull, ~0ull}) {
    const auto count = guest.memory().translate({addr}, 0, out);
    EXPECT_TRUE(count.ok());
    EXPECT_EQ(count.value(), 0u);
  }
}

TEST(Translate, w12_splits_at_a_seam) {
  RawGuest guest({{0x2000, 0x1000}, {0x1000, 0x1000}});
  const auto count = guest.memory().translate({0x1ff0}, 0x30, out);
  ASSERT_TRUE(count.ok());
  ASSERT_EQ(count.value(), 2u);
  EXPECT_EQ(out[0].host, &guest.byte(0x1ff0));
  EXPECT_EQ(out[0].len, 0x10u);
  EXPECT_EQ(out[1].host, &guest.byte(0x2000));
  EXPECT_EQ(out[1].len, 0x20u);
}

TEST(Translate, w12_splits_at_each_of_several_seams) {
  RawGuest guest({{0x1000, 0x10}, {0x1010, 0x10}, {0x1020, 0x10}});
  const auto count = guest.memory().translate({0x1008}, 0x20, out);
  ASSERT_TRUE(count.ok());
  EXPECT_EQ(count.value(), 3u);
  EXPECT_EQ(bytes_of(3), 0x20u);
}

TEST(Translate, w12_needs_room_for_each_piece) {
  RawGuest guest({{0x1000, 0x1000}, {0x2000, 0x1000}});
  const std::span room(out);
  EXPECT_TRUE(guest.memory().translate({0x1ff0}, 0x20, room.first(2)).ok());
  EXPECT_EQ(guest.memory().translate({0x1ff0}, 0x20, room.first(1)).error(),
            RingError::kTooManyPieces);
  EXPECT_EQ(guest.memory().translate({0x1ff0}, 0x10, room.first(0)).error(),
            RingError::kTooManyPieces);
}

TEST(Translate, w12_a_hole_or_the_end_inside_is_outside) {
  RawGuest guest({{0x1000, 0x1000}, {0x2010, 0x1000}});
  EXPECT_TRUE(guest.memory().translate({0x1ff0}, 0x10, out).ok());
  EXPECT_EQ(guest.memory().translate({0x1ff0}, 0x11, out).error(),
            RingError::kAddressOutsideMemory);
  EXPECT_EQ(guest.memory().translate({0x1ff0}, 0x40, out).error(),
            RingError::kAddressOutsideMemory);
  EXPECT_EQ(guest.memory().translate({0x3000}, 0x11, out).error(),
            RingError::kAddressOutsideMemory);
}

TEST(Translate, w14_addition_is_checked) {
  RawGuest guest({{0, 0x10000}});
  EXPECT_EQ(guest.memory().translate({0xffffffffffffff00}, 512, out).error(),
            RingError::kAddressOverflow);
  EXPECT_EQ(guest.memory().translate({0xffffffffffffff00}, 256, out).error(),
            RingError::kAddressOverflow);
  EXPECT_EQ(guest.memory().translate({0xffffffffffffff00}, 255, out).error(),
            RingError::kAddressOutsideMemory);
}

TEST(Translate, w15_up_to_the_end_and_no_further) {
  RawGuest guest({{0, 0x10000}});
  EXPECT_TRUE(guest.memory().translate({0xF000}, 0x1000, out).ok());
  EXPECT_EQ(guest.memory().translate({0xF000}, 0x1001, out).error(),
            RingError::kAddressOutsideMemory);
}

TEST(Contiguous, w16_must_lie_whole_in_one_region) {
  RawGuest guest({{0x1000, 0x1000}, {0x2000, 0x1000}});
  EXPECT_TRUE(guest.memory().contiguous({0x1ff0}, 0x10).ok());
  EXPECT_EQ(guest.memory().contiguous({0x1ff0}, 0x11).error(), RingError::kAddressOutsideMemory);
  EXPECT_EQ(guest.memory().contiguous({0x3000}, 1).error(), RingError::kAddressOutsideMemory);
  EXPECT_EQ(guest.memory().contiguous({~0ull}, 2).error(), RingError::kAddressOverflow);
  EXPECT_EQ(guest.memory().contiguous({0x1ff0}, ~0ull).error(), RingError::kAddressOverflow);
}

// The memory map is the caller's, not the guest's: a wrong one throws.
class MemoryMap : public testing::Test {
 protected:
  alignas(16) std::array<std::byte, 64> host{};
  Region at(std::uint64_t base, std::size_t offset, std::size_t bytes) {
    return {{base}, std::span(host).subspan(offset, bytes)};
  }
};

TEST_F(MemoryMap, may_come_in_any_order) {
  const GuestMemory memory({at(0x20, 0, 16), at(0x10, 16, 16)});
  EXPECT_EQ(memory.regions()[0].base.value, 0x10u);
  EXPECT_EQ(memory.contiguous({0x20}, 1).value(), host.data());
}

TEST_F(MemoryMap, refuses_an_empty_region) {
  EXPECT_THROW(GuestMemory({at(0x10, 0, 0)}), std::invalid_argument);
}

TEST_F(MemoryMap, refuses_an_overlap) {
  EXPECT_NO_THROW(GuestMemory({at(0x10, 0, 16), at(0x20, 16, 16)}));
  EXPECT_THROW(GuestMemory({at(0x10, 0, 17), at(0x20, 32, 16)}), std::invalid_argument);
}

TEST_F(MemoryMap, refuses_a_region_past_2_64) {
  EXPECT_NO_THROW(GuestMemory({at(0xfffffffffffffff0, 0, 15)}));
  EXPECT_THROW(GuestMemory({at(0xfffffffffffffff0, 0, 17)}), std::invalid_argument);
}

TEST_F(MemoryMap, refuses_a_host_pointer_of_other_alignment) {
  EXPECT_NO_THROW(GuestMemory({at(0x18, 8, 8)}));
  EXPECT_THROW(GuestMemory({at(0x10, 8, 8)}), std::invalid_argument);
}

}  // namespace
}  // namespace vringlab
