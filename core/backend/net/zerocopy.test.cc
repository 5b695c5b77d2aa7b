#include "core/backend/net/zerocopy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "core/backend/net/zerocopy_sink.h"

namespace vringlab {
namespace {

std::vector<std::uint16_t> retired(ZeroCopySlots& slots) {
  std::vector<std::uint16_t> heads;
  slots.retire([&](std::uint16_t head) { heads.push_back(head); });
  return heads;
}
using Heads = std::vector<std::uint16_t>;

TEST(ZeroCopySlots, a_completed_slot_waits_for_those_before_it) {
  ZeroCopySlots slots(4);
  const std::uint16_t first = slots.lend(7);
  const std::uint16_t second = slots.lend(5);
  EXPECT_NE(first, second);
  slots.complete(second);
  EXPECT_FALSE(slots.finished());
  EXPECT_EQ(retired(slots), Heads{});
  EXPECT_EQ(slots.lent(), 1);
  EXPECT_EQ(slots.used(), 2);
  slots.complete(first);
  EXPECT_TRUE(slots.finished());
  EXPECT_EQ(retired(slots), (Heads{7, 5}));
  EXPECT_EQ(slots.used(), 0);
  EXPECT_FALSE(slots.finished());
}

TEST(ZeroCopySlots, what_was_copied_waits_its_turn_too) {
  ZeroCopySlots slots(4);
  slots.record_done(1);
  const std::uint16_t lent = slots.lend(2);
  slots.record_done(3);
  EXPECT_EQ(retired(slots), Heads{1});
  EXPECT_EQ(slots.lent(), 1);
  slots.complete(lent);
  EXPECT_EQ(retired(slots), (Heads{2, 3}));
}

TEST(ZeroCopySlots, a_slot_rolled_back_is_the_next_one_s) {
  ZeroCopySlots slots(4);
  slots.lend(0);
  const std::uint16_t slot = slots.lend(1);
  slots.roll_back();
  EXPECT_EQ(slots.lent(), 1);
  EXPECT_EQ(slots.used(), 1);
  EXPECT_EQ(slots.lend(2), slot);
  slots.complete(slot);
  slots.complete(0);
  EXPECT_EQ(retired(slots), (Heads{0, 2}));
}

// All orders of completing five slots, wherever the ring of eight stands.
TEST(ZeroCopySlots, every_order_of_completion_gives_the_order_taken) {
  ZeroCopySlots slots(8);
  std::array<std::uint16_t, 5> order{0, 1, 2, 3, 4};
  do {
    std::array<std::uint16_t, 5> lent{};
    for (std::uint16_t i = 0; i < 5; ++i) lent[i] = slots.lend(i);
    Heads heads;
    for (const std::uint16_t i : order) {
      slots.complete(lent[i]);
      std::ranges::copy(retired(slots), std::back_inserter(heads));
    }
    ASSERT_EQ(heads, (Heads{0, 1, 2, 3, 4}));
  } while (std::ranges::next_permutation(order).found);
}

TEST(ZeroCopySlots, the_largest_ring_fills_every_slot_and_wraps) {
  ZeroCopySlots slots(32768);
  for (int round = 0; round < 3; ++round) {
    for (std::uint16_t i = 0; i < 32768; ++i) slots.lend(i);
    EXPECT_EQ(slots.used(), 32768);
    for (std::uint16_t i = 0; i < 32768; ++i) slots.complete(i);
    Heads all(32768);
    std::iota(all.begin(), all.end(), std::uint16_t{0});
    EXPECT_EQ(retired(slots), all);
  }
}

TEST(ZeroCopySlots, cleared_slots_give_nothing_back) {
  ZeroCopySlots slots(4);
  slots.record_done(1);
  slots.clear();
  EXPECT_EQ(slots.used(), 0);
  EXPECT_EQ(retired(slots), Heads{});
}

#ifndef NDEBUG
TEST(ZeroCopySlotsDeathTest, a_slot_is_completed_once) {
  ZeroCopySlots slots(4);
  const std::uint16_t slot = slots.lend(1);
  EXPECT_DEATH(slots.complete(4), "slot <= mask_");
  EXPECT_DEATH(slots.complete(3), "kLent");
  EXPECT_DEATH(slots.clear(), "lent_ == 0");
  slots.complete(slot);
  EXPECT_DEATH(slots.complete(slot), "kLent");
  EXPECT_DEATH(slots.roll_back(), "kLent");
}
#endif

TEST(ZeroCopyRecord, one_failure_in_64_packets_is_borne) {
  ZeroCopyRecord record;
  EXPECT_TRUE(record.pays());
  record.count_failure();
  for (int i = 0; i < 63; ++i) record.count_packet();
  EXPECT_FALSE(record.pays());
  record.count_packet();
  EXPECT_TRUE(record.pays());
  record.count_failure();
  EXPECT_FALSE(record.pays());
}

TEST(ZeroCopyRecord, forgets_after_1024_packets) {
  ZeroCopyRecord record;
  for (int i = 0; i < 100; ++i) record.count_failure();
  for (int i = 0; i < 1023; ++i) record.count_packet();
  EXPECT_FALSE(record.pays());
  record.count_packet();
  EXPECT_TRUE(record.pays());
  EXPECT_EQ(record.packets, 0u);
}

// The frame behind a header of twelve bytes, however both are cut.
TEST(ZeroCopySink, frame_pieces_leave_the_header_out) {
  std::array<std::byte, 64> memory{};
  for (const std::vector<std::uint32_t>& lengths :
       {std::vector<std::uint32_t>{64}, {12, 52}, {13, 51}, {11, 53}, {5, 7, 20, 32}, {64, 0}}) {
    std::vector<Piece> pieces;
    std::byte* at = memory.data();
    for (const std::uint32_t len : lengths) {
      pieces.push_back({at, len});
      at += len;
    }
    const Chain chain{.room = pieces, .readable_count = static_cast<std::uint32_t>(pieces.size())};
    std::array<Piece, 4> out;
    const std::size_t count = frame_pieces({chain, {.header_bytes = 12, .frame_bytes = 52}}, out);
    const std::byte* next = memory.data() + 12;
    for (std::size_t i = 0; i < count; next += out[i++].len) EXPECT_EQ(out[i].host, next);
    EXPECT_EQ(next, memory.data() + 64);
  }
}

}  // namespace
}  // namespace vringlab
