#include "core/spec/split.h"

#include <gtest/gtest.h>

#include <array>

namespace vringlab {
namespace {

constexpr std::array<std::uint16_t, 14> kBoundaries = {
    0, 1, 2, 3, 255, 256, 257, 32766, 32767, 32768, 32769, 65533, 65534, 65535};

// The definition: walk from old_idx to new_idx and see whether event is stepped over.
bool steps_over(std::uint16_t event, std::uint16_t new_idx, std::uint16_t old_idx) {
  for (std::uint32_t i = old_idx;; ++i) {
    if (i % 65536 == new_idx) return false;
    if (i % 65536 == event) return true;
  }
}

TEST(NeedEvent, agrees_with_its_definition_on_boundaries) {
  for (const std::uint16_t event : kBoundaries)
    for (const std::uint16_t new_idx : kBoundaries)
      for (const std::uint16_t old_idx : kBoundaries)
        ASSERT_EQ(need_event(event, new_idx, old_idx), steps_over(event, new_idx, old_idx))
            << event << ' ' << new_idx << ' ' << old_idx;
}

// Relative to old_idx only the two distances count: exhaustive for each event and a step of 64.
TEST(NeedEvent, agrees_with_its_definition_for_every_event) {
  for (std::uint32_t old_idx = 0; old_idx < 65536; old_idx += 4369)
    for (std::uint32_t event = 0; event < 65536; ++event) {
      const auto passed = static_cast<std::uint16_t>(event - old_idx) < 64;
      ASSERT_EQ(
          need_event(static_cast<std::uint16_t>(event), static_cast<std::uint16_t>(old_idx + 64),
                     static_cast<std::uint16_t>(old_idx)),
          passed)
          << event << ' ' << old_idx;
    }
}

TEST(NeedEvent, n02_wraps) {
  EXPECT_TRUE(need_event(65535, 2, 65534));
  EXPECT_FALSE(need_event(3, 2, 65534));
  EXPECT_FALSE(need_event(2, 2, 65534));
  EXPECT_TRUE(need_event(1, 2, 65534));
  EXPECT_FALSE(need_event(65533, 2, 65534));
  EXPECT_TRUE(need_event(65534, 2, 65534));
}

TEST(NeedEvent, n02_is_never_true_where_nothing_moved) {
  for (const std::uint16_t event : kBoundaries)
    for (const std::uint16_t idx : kBoundaries) EXPECT_FALSE(need_event(event, idx, idx));
}

TEST(IndexDistance, wraps) {
  EXPECT_EQ(index_distance(0, 65535), 1);
  EXPECT_EQ(index_distance(65535, 0), 65535);
  EXPECT_EQ(index_distance(3, 65531), 8);
  EXPECT_EQ(index_distance(7, 7), 0);
}

TEST(QueueSize, d07_is_a_power_of_two_up_to_32768) {
  for (std::uint32_t size = 1; size <= 32768; size *= 2) EXPECT_TRUE(valid_queue_size(size));
  for (const std::uint32_t size : {0u, 3u, 6u, 255u, 32767u, 32769u, 65535u, 65536u, 0x80000000u})
    EXPECT_FALSE(valid_queue_size(size)) << size;
}

TEST(AreaSizes, follow_the_format) {
  EXPECT_EQ(desc_bytes(8), 128u);
  EXPECT_EQ(avail_bytes(8, false), 20u);
  EXPECT_EQ(avail_bytes(8, true), 22u);
  EXPECT_EQ(used_bytes(8, false), 68u);
  EXPECT_EQ(used_bytes(8, true), 70u);
  EXPECT_EQ(2 * used_event_word(8), 20u);   // just behind the avail ring
  EXPECT_EQ(2 * avail_event_word(8), 68u);  // just behind the used ring
}

}  // namespace
}  // namespace vringlab
