#include "sim/machine/fifo_states.h"

#include <gtest/gtest.h>

#include "sim/cost/random.h"
#include "tests/double/fifo_cache.h"

namespace vringlab::sim {
namespace {

// The states and the cache that they stand for, driven alike.
template <std::uint32_t Ways>
struct Twins {
  FifoStates<Ways> states;
  test::FifoCache cache;
  std::vector<bool> writable;

  Twins(std::uint32_t sets, std::uint32_t items)
      : states(items, sets), cache(sets, Ways), writable(items) {}

  bool agree(std::uint32_t item) const {
    const bool held = cache.holds(item);
    return states.reads(item) == held && states.writes(item) == (held && writable[item]);
  }
  void fill(std::uint32_t item, bool write) {
    states.fill(item, write);
    cache.fill(item);
    writable[item] = write;
  }
  void invalidate(std::uint32_t item) {
    states.invalidate(item);
    cache.invalidate(item);
  }
  void allow_writes(std::uint32_t item, bool write) {
    if (write) {
      states.allow_writes(item);
    } else {
      states.forbid_writes(item);
    }
    writable[item] = write;
  }
};

// One in four accesses invalidates; the others fill on a miss and else change
// what is allowed. After each one every item is asked for.
template <std::uint32_t Ways>
void expect_twins_agree(std::uint32_t sets, std::uint32_t items, std::uint64_t seed) {
  Twins<Ways> twins(sets, items);
  RandomStream random(seed);
  for (int i = 0; i < 3000; ++i) {
    const auto item = static_cast<std::uint32_t>(random.next() % items);
    const bool write = random.next() % 2 == 0;
    if (random.next() % 4 == 0) {
      twins.invalidate(item);
    } else if (!twins.cache.holds(item)) {
      twins.fill(item, write);
    } else {
      twins.allow_writes(item, write);
    }
    for (std::uint32_t other = 0; other < items; ++other)
      ASSERT_TRUE(twins.agree(other)) << "access " << i << " item " << other;
  }
}

TEST(FifoStates, hold_what_a_cache_replaced_first_in_first_out_holds) {
  expect_twins_agree<1>(1, 3, 1);
  expect_twins_agree<2>(4, 13, 2);
  expect_twins_agree<8>(2, 40, 3);
  expect_twins_agree<64>(1, 200, 4);
}

TEST(FifoStates, an_item_that_came_back_in_another_way_outlives_its_first) {
  FifoStates<2> states(4, 1);
  states.fill(0, false);
  states.invalidate(0);
  states.fill(0, false);  // the second way
  states.fill(1, false);  // the first way, empty
  EXPECT_TRUE(states.reads(0));
  states.fill(2, false);
  EXPECT_FALSE(states.reads(0));
}

TEST(FifoStates, what_is_not_held_can_be_forbidden_and_invalidated) {
  FifoStates<2> states(4, 1);
  states.fill(0, true);
  states.invalidate(1);
  states.forbid_writes(1);
  EXPECT_FALSE(states.reads(1));
  EXPECT_TRUE(states.writes(0));
}

TEST(FifoStates, nothing_is_held_before_it_is_filled) {
  const FifoStates<8> states(64, 4);
  for (std::uint32_t item = 0; item < 64; ++item) EXPECT_FALSE(states.reads(item)) << item;
}

}  // namespace
}  // namespace vringlab::sim
