#include "sim/machine/tlb.h"

#include <gtest/gtest.h>

namespace vringlab::sim {
namespace {

// What a touch of `page` finds: first level, second level or neither.
enum class Found { kFirst, kSecond, kWalk };

Found touch(Tlb& tlb, std::uint32_t page) {
  if (tlb.l1_holds(page)) return Found::kFirst;
  return tlb.fill(page) ? Found::kSecond : Found::kWalk;
}

TEST(Tlb, a_new_page_is_walked_once) {
  Tlb tlb(10);
  EXPECT_EQ(touch(tlb, 3), Found::kWalk);
  EXPECT_EQ(touch(tlb, 3), Found::kFirst);
  EXPECT_EQ(touch(tlb, 4), Found::kWalk);
}

TEST(Tlb, first_level_has_64_entries) {
  Tlb tlb(100);
  for (std::uint32_t page = 0; page < 64; ++page) touch(tlb, page);
  EXPECT_EQ(touch(tlb, 0), Found::kFirst);
  touch(tlb, 64);
  EXPECT_EQ(touch(tlb, 0), Found::kSecond);
  EXPECT_EQ(touch(tlb, 0), Found::kFirst);
}

TEST(Tlb, second_level_has_1536_entries) {
  Tlb tlb(2000);
  for (std::uint32_t page = 0; page < 1536; ++page) touch(tlb, page);
  EXPECT_EQ(touch(tlb, 0), Found::kSecond);
  touch(tlb, 1536);
  EXPECT_EQ(touch(tlb, 1), Found::kSecond);
  for (std::uint32_t page = 2; page < 66; ++page) touch(tlb, page);
  EXPECT_EQ(touch(tlb, 0), Found::kWalk);
}

}  // namespace
}  // namespace vringlab::sim
