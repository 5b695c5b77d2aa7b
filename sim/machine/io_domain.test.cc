#include "sim/machine/io_domain.h"

#include <gtest/gtest.h>

namespace vringlab::sim {
namespace {

// A domain with `count` pages entered, at 100 and up; the first of them is `first`.
struct Rig {
  IoDomain domain;
  std::uint32_t first;

  Rig(std::uint32_t entries, std::uint32_t count) : domain(entries), first(domain.grow(count)) {
    domain.enter(first, 100, count);
  }
  bool misses(std::uint32_t i) {
    const IoDomain::Found found = domain.look_up(first + i);
    EXPECT_EQ(found.memory, 100 + i);
    return found.missed;
  }
};

TEST(IoDomain, a_page_misses_once) {
  Rig rig(2, 2);
  EXPECT_TRUE(rig.misses(0));
  EXPECT_TRUE(rig.misses(1));
  EXPECT_FALSE(rig.misses(0));
  EXPECT_FALSE(rig.misses(1));
}

TEST(IoDomain, the_first_in_is_the_first_out_whatever_was_hit) {
  Rig rig(2, 3);
  rig.misses(0);
  rig.misses(1);
  EXPECT_FALSE(rig.misses(0));
  EXPECT_TRUE(rig.misses(2));
  EXPECT_FALSE(rig.misses(1));
  EXPECT_TRUE(rig.misses(0));
  EXPECT_FALSE(rig.misses(2));
  EXPECT_TRUE(rig.misses(1));
}

TEST(IoDomain, what_the_iotlb_was_told_of_misses_again_and_nothing_else) {
  Rig rig(4, 4);
  for (std::uint32_t i = 0; i < 4; ++i) rig.misses(i);
  rig.domain.forget(rig.first + 1, 2);
  EXPECT_FALSE(rig.misses(0));
  EXPECT_FALSE(rig.misses(3));
  EXPECT_TRUE(rig.misses(1));
}

TEST(IoDomain, a_flush_empties_it) {
  Rig rig(4, 3);
  for (std::uint32_t i = 0; i < 3; ++i) rig.misses(i);
  rig.domain.forget_all();
  EXPECT_EQ(rig.domain.flushes(), 1u);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_TRUE(rig.misses(i));
}

TEST(IoDomain, what_is_unmapped_is_reached_until_the_iotlb_is_told) {
  Rig rig(4, 2);
  rig.misses(0);
  rig.domain.remove(rig.first, 2);
  EXPECT_FALSE(rig.misses(0));  // the window that a lazy IOMMU leaves open
  EXPECT_EQ(rig.domain.look_up(rig.first + 1).memory, IoDomain::kNowhere);
  rig.domain.forget(rig.first, 1);
  EXPECT_EQ(rig.domain.look_up(rig.first).memory, IoDomain::kNowhere);
}

TEST(IoDomain, what_never_was_mapped_is_nowhere) {
  Rig rig(4, 1);
  for (const std::uint64_t io :
       {std::uint64_t{0}, std::uint64_t{rig.first} + 1, std::uint64_t{UINT32_MAX}, UINT64_MAX}) {
    const IoDomain::Found found = rig.domain.look_up(io);
    EXPECT_EQ(found.memory, IoDomain::kNowhere);
    EXPECT_TRUE(found.missed);
  }
}

}  // namespace
}  // namespace vringlab::sim
