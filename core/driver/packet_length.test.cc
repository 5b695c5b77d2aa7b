#include "core/driver/packet_length.h"

#include <gtest/gtest.h>

namespace vringlab {
namespace {

TEST(PacketLength, the_first_counts_whole_and_the_next_a_64th) {
  PacketLength length;
  EXPECT_EQ(length.average(), 0u);
  length.add(1000);
  EXPECT_EQ(length.average(), 1000u);
  length.add(1064);
  EXPECT_EQ(length.average(), 1001u);
  length.add(1001 - 64);
  EXPECT_EQ(length.average(), 1000u);
}

TEST(PacketLength, comes_near_what_it_is_fed_with) {
  PacketLength length;
  length.add(100);
  for (int i = 0; i < 1000; ++i) length.add(9000);
  EXPECT_GT(length.average(), 9000u - PacketLength::kWeight);
  EXPECT_LE(length.average(), 9000u);
  for (int i = 0; i < 10; ++i) length.add(UINT32_MAX);
  EXPECT_GT(length.average(), 9000u);
}

TEST(RxSizing, is_clamped_and_whole_cache_lines) {
  const RxSizing sizing{.header_bytes = 12, .min_bytes = 1514, .page_bytes = 4096};
  EXPECT_EQ(sizing.buffer_bytes(0), 1536u);
  EXPECT_EQ(sizing.buffer_bytes(1514), 1536u);
  EXPECT_EQ(sizing.buffer_bytes(1524), 1536u);  // with the header 1536
  EXPECT_EQ(sizing.buffer_bytes(1525), 1600u);
  EXPECT_EQ(sizing.buffer_bytes(4084), 4096u);
  EXPECT_EQ(sizing.buffer_bytes(4085), 4096u);
  EXPECT_EQ(sizing.buffer_bytes(UINT32_MAX), 4096u);
  EXPECT_EQ((RxSizing{12, 9000, 4096}.buffer_bytes(0)), 4096u);
}

}  // namespace
}  // namespace vringlab
