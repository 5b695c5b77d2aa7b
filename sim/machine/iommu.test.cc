#include "sim/machine/iommu.h"

#include <gtest/gtest.h>

namespace vringlab::sim {
namespace {

TEST(Iommu, an_address_is_searched_for_once_and_cached_when_it_comes_back) {
  InvalidationQueue queue;
  Iommu iommu({.mode = IommuMode::kStrict}, queue);
  EXPECT_FALSE(iommu.take_address(1));
  EXPECT_TRUE(iommu.give_address(1, 0));  // strict: the IOTLB has to be told
  EXPECT_TRUE(iommu.take_address(1));
  EXPECT_FALSE(iommu.take_address(1));  // the second one is new again
  EXPECT_EQ(iommu.counters().tree_searches, 2u);
  EXPECT_EQ(iommu.counters().mapped_pages, 2u);
}

TEST(Iommu, addresses_are_cached_by_their_size) {
  InvalidationQueue queue;
  Iommu iommu({.mode = IommuMode::kStrict}, queue);
  iommu.take_address(8);
  iommu.give_address(8, 0);
  EXPECT_FALSE(iommu.take_address(1));
  EXPECT_TRUE(iommu.take_address(5));  // as long as eight
}

TEST(Iommu, long_ranges_are_never_cached) {
  InvalidationQueue queue;
  Iommu iommu({.mode = IommuMode::kStrict}, queue);
  iommu.take_address(33);
  iommu.give_address(33, 0);
  EXPECT_FALSE(iommu.take_address(33));
  iommu.take_address(32);
  iommu.give_address(32, 0);
  EXPECT_TRUE(iommu.take_address(32));
}

TEST(Iommu, a_lazy_one_tells_of_so_many_at_once) {
  InvalidationQueue queue;
  Iommu iommu({.mode = IommuMode::kLazy, .flush_entries = 3}, queue);
  for (int i = 0; i < 3; ++i) iommu.take_address(1);
  EXPECT_FALSE(iommu.give_address(1, 10));
  EXPECT_FALSE(iommu.give_address(1, 20));
  EXPECT_FALSE(iommu.take_address(1));  // what waits for the flush is not to be had
  EXPECT_TRUE(iommu.give_address(1, 30));
  EXPECT_EQ(iommu.invalidate(30, 100), 130u);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(iommu.take_address(1));
  EXPECT_FALSE(iommu.take_address(1));
  EXPECT_EQ(iommu.counters().invalidations, 1u);
}

TEST(Iommu, a_lazy_one_tells_of_the_first_after_a_time) {
  InvalidationQueue queue;
  Iommu iommu({.mode = IommuMode::kLazy, .flush_ps = 1000}, queue);
  iommu.take_address(1);
  iommu.take_address(1);
  EXPECT_FALSE(iommu.give_address(1, 500));
  EXPECT_FALSE(iommu.give_address(1, 1499));
  iommu.take_address(1);
  EXPECT_TRUE(iommu.give_address(1, 1500));
}

TEST(Iommu, processors_wait_for_one_another_at_the_invalidation_queue) {
  InvalidationQueue queue;
  Iommu a({.mode = IommuMode::kStrict}, queue);
  Iommu b({.mode = IommuMode::kStrict}, queue);
  EXPECT_EQ(a.invalidate(100, 50), 150u);
  EXPECT_EQ(b.invalidate(120, 50), 200u);
  EXPECT_EQ(a.invalidate(300, 50), 350u);
}

}  // namespace
}  // namespace vringlab::sim
