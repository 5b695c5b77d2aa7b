#include "sim/host/page_cache.h"

#include <gtest/gtest.h>

namespace vringlab::sim {
namespace {

using State = PageCache::State;

TEST(PageCache, a_page_is_absent_until_it_is_set) {
  PageCache cache(4);
  EXPECT_EQ(cache.pages(), 4u);
  EXPECT_EQ(cache.state(0), State::kAbsent);  // though places begin with number 0
  cache.set(5, State::kReading);
  EXPECT_EQ(cache.state(5), State::kReading);
  EXPECT_EQ(cache.state(1), State::kAbsent);
}

TEST(PageCache, pages_a_cache_apart_have_the_same_place) {
  PageCache cache(4);
  cache.set(1, State::kDirty);
  EXPECT_TRUE(cache.displaces_dirty(5));
  EXPECT_FALSE(cache.displaces_dirty(1));
  EXPECT_FALSE(cache.displaces_dirty(2));
  cache.set(5, State::kClean);
  EXPECT_EQ(cache.state(1), State::kAbsent);
  EXPECT_EQ(cache.state(5), State::kClean);
  EXPECT_FALSE(cache.displaces_dirty(1));
}

TEST(PageCache, changes_only_pages_that_are_still_as_they_were) {
  PageCache cache(4);
  for (PageNumber page = 0; page < 4; ++page) cache.set(page, State::kReading);
  cache.set(1, State::kDirty);    // overwritten meanwhile
  cache.set(6, State::kReading);  // in the place of 2
  cache.change({0, 3}, State::kReading, State::kClean);
  EXPECT_EQ(cache.state(0), State::kClean);
  EXPECT_EQ(cache.state(1), State::kDirty);
  EXPECT_EQ(cache.state(2), State::kAbsent);
  EXPECT_EQ(cache.state(6), State::kReading);
  EXPECT_EQ(cache.state(3), State::kReading);  // one past the range
}

TEST(PageCache, a_mark_is_taken_once_and_goes_with_its_page) {
  PageCache cache(4);
  cache.set(2, State::kReading);
  cache.mark(2);
  cache.set(2, State::kClean);  // the same page keeps it
  EXPECT_FALSE(cache.take_mark(6));
  EXPECT_TRUE(cache.take_mark(2));
  EXPECT_FALSE(cache.take_mark(2));
  cache.mark(2);
  cache.set(6, State::kClean);
  EXPECT_FALSE(cache.take_mark(6));
  EXPECT_FALSE(cache.take_mark(2));
}

TEST(ReadAhead, a_read_out_of_sequence_fetches_what_it_needs) {
  ReadAhead ahead(32);
  EXPECT_EQ(ahead.miss({100, 103}), (PageRange{100, 103}));
  ahead.meet(100);
  EXPECT_EQ(ahead.miss({200, 201}), (PageRange{200, 201}));
}

TEST(ReadAhead, windows_grow_to_the_limit_while_reads_go_on) {
  ReadAhead ahead(32);
  EXPECT_EQ(ahead.miss({0, 2}), (PageRange{0, 8}));  // four times what was wanted
  ahead.meet(0);
  EXPECT_EQ(ahead.ahead(), (PageRange{8, 24}));
  EXPECT_EQ(ahead.ahead(), (PageRange{24, 56}));
  EXPECT_EQ(ahead.ahead(), (PageRange{56, 88}));
  EXPECT_EQ(ahead.miss({88, 90}), (PageRange{88, 120}));  // behind the last window
}

TEST(ReadAhead, a_jump_ends_the_sequence) {
  ReadAhead ahead(32);
  ahead.miss({0, 1});
  for (PageNumber page = 0; page < 4; ++page) ahead.meet(page);
  EXPECT_EQ(ahead.miss({900, 901}), (PageRange{900, 901}));
  ahead.meet(900);
  EXPECT_EQ(ahead.miss({901, 902}), (PageRange{901, 905}));  // and begins another
}

TEST(ReadAhead, no_less_than_what_is_wanted) {
  ReadAhead none(0);
  EXPECT_EQ(none.miss({0, 5}), (PageRange{0, 5}));
  EXPECT_EQ(none.ahead().count(), 0u);
  ReadAhead small(4);
  EXPECT_EQ(small.miss({0, 9}), (PageRange{0, 9}));
}

TEST(DirtyPages, neighbours_are_one_range_taken_in_the_order_of_dirtying) {
  DirtyPages dirty;
  EXPECT_TRUE(dirty.empty());
  EXPECT_EQ(dirty.take(8).count(), 0u);
  for (const PageNumber page : {7u, 8u, 9u, 3u, 4u}) dirty.add(page);
  EXPECT_EQ(dirty.added(), 5u);
  EXPECT_EQ(dirty.take(2), (PageRange{7, 9}));
  EXPECT_EQ(dirty.take(8), (PageRange{9, 10}));
  dirty.add(5);  // goes on where the last range ends
  EXPECT_EQ(dirty.take(8), (PageRange{3, 6}));
  EXPECT_TRUE(dirty.empty());
}

TEST(DirtyPages, a_range_that_was_taken_is_not_gone_on_with) {
  DirtyPages dirty;
  dirty.add(1);
  EXPECT_EQ(dirty.take(1), (PageRange{1, 2}));
  dirty.add(2);
  EXPECT_EQ(dirty.take(9), (PageRange{2, 3}));
}

// Longer than what is thrown away at once, in an order that makes no ranges.
TEST(DirtyPages, forgets_what_was_taken_and_loses_nothing) {
  DirtyPages dirty;
  for (PageNumber page = 0; page < 5000; ++page) dirty.add(2 * page);
  for (PageNumber page = 0; page < 5000; ++page) {
    ASSERT_EQ(dirty.take(9), (PageRange{2 * page, 2 * page + 1}));
    if (page % 3 == 0) dirty.add(100000 + 2 * page);
  }
  PageNumber left = 0;
  for (; !dirty.empty(); ++left) ASSERT_EQ(dirty.take(9).first, 100000 + 6 * left);
  EXPECT_EQ(left, 1667u);
  EXPECT_EQ(dirty.added(), 6667u);
}

}  // namespace
}  // namespace vringlab::sim
