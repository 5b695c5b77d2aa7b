#include "sim/machine/fifo_tags.h"

#include <gtest/gtest.h>

#include "sim/cost/random.h"
#include "tests/double/fifo_cache.h"

namespace vringlab::sim {
namespace {

// The tags and the cache that they stand for, driven alike.
template <std::uint32_t Ways>
struct Twins {
  FifoTags<Ways> tags;
  std::vector<FillNumber> numbers;
  test::FifoCache cache;

  Twins(std::uint32_t sets, std::uint32_t items) : tags(sets), numbers(items), cache(sets, Ways) {}

  bool agree(std::uint32_t item) const {
    return tags.holds(item, numbers[item]) == cache.holds(item);
  }
  void fill(std::uint32_t item) {
    numbers[item] = tags.fill(item);
    cache.fill(item);
  }
  void invalidate(std::uint32_t item) {
    numbers[item] = 0;
    cache.invalidate(item);
  }
};

// Three in four accesses fill on a miss, the others invalidate; after each one
// every item is asked for.
template <std::uint32_t Ways>
void expect_twins_agree(std::uint32_t sets, std::uint32_t items, std::uint64_t seed) {
  Twins<Ways> twins(sets, items);
  RandomStream random(seed);
  for (int i = 0; i < 3000; ++i) {
    const auto item = static_cast<std::uint32_t>(random.next() % items);
    if (random.next() % 4 == 0) {
      twins.invalidate(item);
    } else if (!twins.cache.holds(item)) {
      twins.fill(item);
    }
    for (std::uint32_t other = 0; other < items; ++other)
      ASSERT_TRUE(twins.agree(other)) << "access " << i << " item " << other;
  }
}

TEST(FifoTags, hold_what_a_cache_replaced_first_in_first_out_holds) {
  expect_twins_agree<1>(1, 3, 1);
  expect_twins_agree<2>(4, 13, 2);
  expect_twins_agree<8>(2, 40, 3);
  expect_twins_agree<16>(8, 200, 4);
}

TEST(FifoTags, the_fill_after_as_many_as_there_are_ways_evicts) {
  FifoTags<4> tags(1);
  const FillNumber first = tags.fill(0);
  for (std::uint32_t item = 1; item < 4; ++item) tags.fill(item);
  EXPECT_TRUE(tags.holds(0, first));
  tags.fill(4);
  EXPECT_FALSE(tags.holds(0, first));
}

TEST(FifoTags, an_invalidated_item_leaves_its_way_empty) {
  Twins<2> twins(1, 4);
  twins.fill(0);
  twins.fill(1);
  twins.invalidate(1);
  twins.fill(2);  // takes the way of 0, the oldest, not the empty one
  EXPECT_FALSE(twins.tags.holds(0, twins.numbers[0]));
  EXPECT_TRUE(twins.tags.holds(2, twins.numbers[2]));
}

TEST(FifoTags, nothing_is_held_before_it_is_filled) {
  const FifoTags<8> tags(4);
  for (std::uint32_t item = 0; item < 64; ++item) EXPECT_FALSE(tags.holds(item, 0)) << item;
}

TEST(FifoTags, sets_are_rounded_down_to_a_power_of_two) {
  FifoTags<1> tags(7);  // four sets
  const FillNumber zero = tags.fill(0);
  tags.fill(1);
  tags.fill(2);
  tags.fill(3);
  EXPECT_TRUE(tags.holds(0, zero));
  tags.fill(4);
  EXPECT_FALSE(tags.holds(0, zero));
}

TEST(LineSets, of_the_caches_there_are) {
  EXPECT_EQ(line_sets(32 * 1024, 8), 64u);
  EXPECT_EQ(line_sets(256 * 1024, 8), 512u);
  EXPECT_EQ(line_sets(32 * 1024 * 1024, 16), 32768u);
}

}  // namespace
}  // namespace vringlab::sim
