#include "sim/machine/iommu.h"

#include <gtest/gtest.h>

namespace vringlab::sim {
namespace {

struct Rig {
  IoDomain domain{8};
  Iommu iommu;

  explicit Rig(const IommuConfig& config) : iommu(config, domain) {}

  // Maps memory somewhere; was the address cached?
  bool cached(std::uint32_t pages) { return iommu.map(100, pages).cached; }
  // Maps and unmaps, and tells the IOTLB if it has to.
  void map_and_unmap(std::uint32_t pages) {
    if (iommu.unmap(iommu.map(100, pages).page, pages, 0)) iommu.invalidate(0, 0);
  }
};

TEST(Iommu, an_address_is_searched_for_once_and_cached_when_it_comes_back) {
  Rig rig({.mode = IommuMode::kStrict});
  const IoRange first = rig.iommu.map(100, 1);
  EXPECT_FALSE(first.cached);
  EXPECT_TRUE(rig.iommu.unmap(first.page, 1, 0));  // strict: the IOTLB has to be told
  rig.iommu.invalidate(0, 0);
  const IoRange again = rig.iommu.map(200, 1);
  EXPECT_TRUE(again.cached);
  EXPECT_EQ(again.page, first.page);
  EXPECT_FALSE(rig.cached(1));  // the second one is new again
  EXPECT_EQ(rig.iommu.counters().tree_searches, 2u);
  EXPECT_EQ(rig.iommu.counters().mapped_pages, 2u);
}

TEST(Iommu, addresses_are_cached_by_their_size) {
  Rig rig({.mode = IommuMode::kStrict});
  rig.map_and_unmap(8);
  EXPECT_FALSE(rig.cached(1));
  EXPECT_TRUE(rig.cached(5));  // as long as eight
}

TEST(Iommu, long_ranges_are_never_cached) {
  Rig rig({.mode = IommuMode::kStrict});
  rig.map_and_unmap(33);
  EXPECT_FALSE(rig.cached(33));
  rig.map_and_unmap(32);
  EXPECT_TRUE(rig.cached(32));
}

TEST(Iommu, live_ranges_have_pages_of_their_own) {
  Rig rig({.mode = IommuMode::kStrict});
  const IoRange a = rig.iommu.map(100, 3);
  const IoRange b = rig.iommu.map(100, 2);  // the same memory, as buffers of one page have
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(rig.domain.look_up(a.page + i).memory, 100 + i);
  for (std::uint32_t i = 0; i < 2; ++i) EXPECT_TRUE(rig.domain.look_up(b.page + i).missed);
}

TEST(Iommu, a_strict_one_tells_of_the_range_alone) {
  Rig rig({.mode = IommuMode::kStrict});
  const IoRange gone = rig.iommu.map(100, 2);
  const IoRange kept = rig.iommu.map(200, 1);
  for (const std::uint32_t page : {gone.page, gone.page + 1, kept.page}) rig.domain.look_up(page);
  rig.iommu.unmap(gone.page, 2, 0);
  rig.iommu.invalidate(0, 0);
  EXPECT_EQ(rig.domain.look_up(gone.page).memory, IoDomain::kNowhere);
  EXPECT_EQ(rig.domain.look_up(gone.page + 1).memory, IoDomain::kNowhere);
  EXPECT_FALSE(rig.domain.look_up(kept.page).missed);
  EXPECT_EQ(rig.domain.flushes(), 0u);
}

TEST(Iommu, a_lazy_one_tells_of_so_many_at_once) {
  Rig rig({.mode = IommuMode::kLazy, .flush_entries = 3});
  std::uint32_t pages[3];
  for (std::uint32_t& page : pages) page = rig.iommu.map(100, 1).page;
  rig.domain.look_up(pages[0]);
  EXPECT_FALSE(rig.iommu.unmap(pages[0], 1, 10));
  EXPECT_FALSE(rig.iommu.unmap(pages[1], 1, 20));
  EXPECT_FALSE(rig.cached(1));  // what waits for the flush is not to be had
  EXPECT_FALSE(rig.domain.look_up(pages[0]).missed);
  EXPECT_TRUE(rig.iommu.unmap(pages[2], 1, 30));
  EXPECT_EQ(rig.iommu.invalidate(30, 100), 130u);
  EXPECT_EQ(rig.domain.look_up(pages[0]).memory, IoDomain::kNowhere);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(rig.cached(1));
  EXPECT_FALSE(rig.cached(1));
  EXPECT_EQ(rig.iommu.counters().invalidations, 1u);
  EXPECT_EQ(rig.domain.flushes(), 1u);
}

TEST(Iommu, a_lazy_one_tells_of_the_first_after_a_time) {
  Rig rig({.mode = IommuMode::kLazy, .flush_ps = 1000});
  const auto unmap_at = [&rig](std::uint64_t now_ps) {
    return rig.iommu.unmap(rig.iommu.map(100, 1).page, 1, now_ps);
  };
  EXPECT_FALSE(unmap_at(500));
  EXPECT_FALSE(unmap_at(1499));
  EXPECT_TRUE(unmap_at(1500));
}

TEST(Iommu, processors_wait_for_one_another_at_the_invalidation_queue) {
  IoDomain domain(8);
  Iommu a({.mode = IommuMode::kStrict}, domain);
  Iommu b({.mode = IommuMode::kStrict}, domain);
  EXPECT_EQ(a.invalidate(100, 50), 150u);
  EXPECT_EQ(b.invalidate(120, 50), 200u);
  EXPECT_EQ(a.invalidate(300, 50), 350u);
}

}  // namespace
}  // namespace vringlab::sim
