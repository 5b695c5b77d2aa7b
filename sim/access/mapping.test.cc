#include "sim/access/mapping.h"

#include <gtest/gtest.h>

#include <atomic>

#include "tests/double/model_machine.h"
#include "tests/double/raw_guest.h"

namespace vringlab::sim {
namespace {

using test::occurrences;

constexpr std::uint64_t kPages = test::ModelMachine::kBytes / kPageBytes;

AccessPlan map_all(Guard guard = Guard::kNone) {
  return {.map_desc = true, .map_avail = true, .map_used = true, .guard = guard};
}

// 1024 entries, each area on pages of its own: 4 + 1 + 3 pages, not aligned.
constexpr std::uint64_t kOffset = 0x10;
constexpr std::uint64_t kDescPages = 5;  // 16 KiB from an offset
constexpr std::uint64_t kAvailPages = 1;
constexpr std::uint64_t kUsedPages = 3;  // 8 KiB and 4 bytes
constexpr std::uint64_t kAllPages = kDescPages + kAvailPages + kUsedPages;

QueueConfig ring_at(std::uint64_t base, std::uint32_t size = 1024) {
  return {.size = size,
          .desc = {base + kOffset},
          .avail = {base + 0x8000},
          .used = {base + 0xc000},
          .features = 0};
}

struct Rig {
  test::ModelMachine model;
  GuestPages pages{test::ModelMachine::kBytes};
  RingMapping mapping;

  explicit Rig(const AccessPlan& plan) : model(plan), mapping(plan, pages) {}

  Core& core() { return model.control_core; }
  bool set_up(const QueueConfig& ring = ring_at(0)) { return mapping.set_up(core(), ring); }
  std::uint64_t count(Cost cost) { return occurrences(core(), cost); }
  std::uint64_t dirty_pages() const {
    std::uint64_t sum = 0;
    for (std::uint64_t page = 0; page < kPages; ++page) sum += pages.dirty(page) ? 1u : 0u;
    return sum;
  }
};

// --- The six faults of the published patch ---

// Fault 1: pages = bytes / page size, rounded up, whatever the first byte's offset.
TEST(RingMapping, fault_1_page_span_counts_the_offset_of_the_first_page) {
  static_assert(page_span(0, 0) == 0 && page_span(4095, 0) == 0);
  static_assert(page_span(0, 1) == 1 && page_span(4095, 1) == 1);
  static_assert(page_span(0, 4096) == 1 && page_span(0, 4097) == 2);
  static_assert(page_span(1, 4096) == 2 && page_span(4095, 2) == 2);
  static_assert(page_span(16, 4096) == 2 && page_span(16, 4080) == 1);
  Rig rig(map_all());
  ASSERT_TRUE(rig.set_up());
  EXPECT_EQ(rig.mapping.pages_mapped(), kAllPages);
  EXPECT_EQ(rig.mapping.pinned_bytes(), kAllPages * kPageBytes);
  EXPECT_EQ(rig.pages.pinned_pages(), kAllPages);
}

// Every byte of every area lies on a pinned page, for rings of all sizes at all offsets.
TEST(RingMapping, fault_1_the_last_byte_of_each_area_is_pinned) {
  for (std::uint32_t size = 2; size <= 2048; size *= 2) {
    for (const std::uint64_t offset : {0u, 16u, 2048u, 4080u}) {
      QueueConfig ring = test::packed_ring(size, test::kEventIdx, offset);
      const std::uint64_t end = ring.used.value + used_bytes(size, true);
      EXPECT_EQ(page_span(ring.used.value, used_bytes(size, true)),
                (end - 1) / kPageBytes - ring.used.value / kPageBytes + 1)
          << size << ' ' << offset;
      Rig rig(map_all());
      ASSERT_TRUE(rig.set_up(ring));
      EXPECT_EQ(rig.pages.pinned_pages(), page_span(offset, end - offset)) << size << ' ' << offset;
    }
  }
}

// Fault 2: the error path released the areas that had not been taken.
TEST(RingMapping, fault_2_a_failed_set_up_releases_exactly_what_it_took) {
  for (std::uint64_t taken = 0; taken < kAllPages; ++taken) {
    Rig rig(map_all());
    rig.pages.fail_after(taken);
    EXPECT_FALSE(rig.set_up()) << taken;
    EXPECT_FALSE(rig.mapping.usable());
    EXPECT_EQ(rig.mapping.pinned_bytes(), 0u);
    EXPECT_EQ(rig.pages.pinned_pages(), 0u) << taken;
    EXPECT_EQ(rig.count(Cost::kGup), taken);
    EXPECT_EQ(rig.count(Cost::kUnpinDirty), taken);
    EXPECT_EQ(rig.dirty_pages(), 0u) << taken;
    EXPECT_TRUE(rig.set_up());  // nothing is left in the way
    EXPECT_EQ(rig.pages.pinned_pages(), kAllPages) << taken;
  }
  Rig rig(map_all());
  rig.pages.fail_after(kAllPages);
  EXPECT_TRUE(rig.set_up());
}

// What somebody else pinned stays pinned.
TEST(RingMapping, fault_2_a_failed_set_up_releases_nothing_of_others) {
  for (std::uint64_t taken = 0; taken < kAllPages; ++taken) {
    Rig rig(map_all());
    for (std::uint64_t page = 0; page < kPages; ++page) ASSERT_TRUE(rig.pages.pin(page));
    rig.pages.fail_after(taken);
    EXPECT_FALSE(rig.set_up());
    EXPECT_EQ(rig.pages.pinned_pages(), kPages) << taken;
    for (std::uint64_t page = 0; page < kPages; ++page) rig.pages.unpin(page, false);
    EXPECT_EQ(rig.pages.pinned_pages(), 0u) << taken;
  }
}

TEST(RingMapping, fault_2_a_ring_off_the_end_of_memory_is_a_failed_set_up) {
  Rig rig(map_all());
  EXPECT_FALSE(rig.set_up(ring_at(test::ModelMachine::kBytes - 0xd000)));
  EXPECT_EQ(rig.pages.pinned_pages(), 0u);
}

// Fault 3: a mapping outlived the ring that it was made for.
TEST(RingMapping, fault_3_a_change_of_address_ends_the_mapping) {
  Rig rig(map_all());
  ASSERT_TRUE(rig.set_up(ring_at(0)));
  ASSERT_TRUE(rig.set_up(ring_at(0x80000)));
  EXPECT_EQ(rig.pages.pinned_pages(), kAllPages);
  EXPECT_EQ(rig.count(Cost::kVunmap), kAllPages);
  EXPECT_FALSE(rig.mapping.invalidate(rig.core(), 0, 0x10));  // where the old one was
  EXPECT_TRUE(rig.mapping.invalidate(rig.core(), 0x80, 1));   // where the new one is
}

TEST(RingMapping, fault_3_a_change_of_size_ends_the_mapping) {
  Rig rig(map_all());
  ASSERT_TRUE(rig.set_up(ring_at(0, 1024)));
  ASSERT_TRUE(rig.set_up(ring_at(0, 256)));
  EXPECT_EQ(rig.mapping.pages_mapped(), 2u + 1 + 1);
  EXPECT_EQ(rig.pages.pinned_pages(), 4u);
}

TEST(RingMapping, fault_3_a_ring_that_cannot_be_mapped_leaves_none_of_the_old_one) {
  Rig rig(map_all());
  ASSERT_TRUE(rig.set_up(ring_at(0)));
  rig.pages.fail_after(2);
  EXPECT_FALSE(rig.set_up(ring_at(0x80000)));
  EXPECT_FALSE(rig.mapping.usable());
  EXPECT_EQ(rig.pages.pinned_pages(), 0u);
}

// Fault 4: set up with the IOTLB on nothing was mapped, and what was not mapped was
// read once the IOTLB was off.
TEST(RingMapping, fault_4_a_queue_set_up_with_the_iotlb_on_has_no_mapping_to_read) {
  for (const Translation translation : {Translation::kIotlb, Translation::kIotlbMetadataCache}) {
    AccessPlan plan = map_all();
    plan.translation = translation;
    Rig rig(plan);
    EXPECT_TRUE(rig.set_up());  // nothing failed
    EXPECT_FALSE(rig.mapping.usable());
    EXPECT_EQ(rig.pages.pinned_pages(), 0u);
    EXPECT_TRUE(rig.mapping.change_translation(rig.core(), Translation::kUserAddress, ring_at(0)));
    EXPECT_TRUE(rig.mapping.usable());
    EXPECT_EQ(rig.pages.pinned_pages(), kAllPages);
    EXPECT_EQ(rig.mapping.plan().translation, Translation::kUserAddress);
  }
}

TEST(RingMapping, fault_4_switching_the_iotlb_on_ends_the_mapping) {
  Rig rig(map_all());
  ASSERT_TRUE(rig.set_up());
  EXPECT_TRUE(rig.mapping.change_translation(rig.core(), Translation::kIotlb, ring_at(0)));
  EXPECT_FALSE(rig.mapping.usable());
  EXPECT_EQ(rig.pages.pinned_pages(), 0u);
}

// Fault 5: pages written through the mapping were released as if they had not been.
TEST(RingMapping, fault_5_written_pages_are_dirty_after_tear_down_and_no_others) {
  Rig rig(map_all());
  ASSERT_TRUE(rig.set_up());
  rig.mapping.tear_down(rig.core());
  const std::uint64_t first_used = ring_at(0).used.value / kPageBytes;
  for (std::uint64_t page = 0; page < kPages; ++page) {
    const bool written = page >= first_used && page < first_used + kUsedPages;
    EXPECT_EQ(rig.pages.dirty(page), written) << page;
  }
}

TEST(RingMapping, fault_5_a_page_that_another_area_shares_stays_dirty) {
  Rig rig(map_all());
  ASSERT_TRUE(rig.set_up(test::packed_ring(16, 0)));
  EXPECT_EQ(rig.pages.pinned_pages(), 1u);
  rig.mapping.tear_down(rig.core());
  EXPECT_TRUE(rig.pages.dirty(0));
  EXPECT_EQ(rig.pages.pinned_pages(), 0u);
}

TEST(RingMapping, fault_5_an_invalidated_mapping_leaves_written_pages_dirty) {
  Rig rig(map_all());
  ASSERT_TRUE(rig.set_up());
  ASSERT_TRUE(rig.mapping.invalidate(rig.core(), 0, kPages));
  EXPECT_EQ(rig.dirty_pages(), kUsedPages);
}

// Fault 6: index words were stored as plain 16-bit stores, which a compiler may
// split or repeat. All go through atomic_ref, which is one instruction where it is
// lock-free and the word is aligned: areas are aligned (2.7), offsets even.
TEST(RingMapping, fault_6_index_words_cannot_tear) {
  using Word = std::atomic_ref<std::uint16_t>;
  static_assert(Word::is_always_lock_free);
  static_assert(kAvailAlign % Word::required_alignment == 0);
  static_assert(kUsedAlign % Word::required_alignment == 0);
  static_assert(kUsedRingOffset % alignof(std::uint16_t) == 0);
  test::ModelMachine model(map_all());
  for (std::uint32_t size = 2; size <= 1024; size *= 2) {
    const QueueConfig ring = test::packed_ring(size, test::kEventIdx);
    const RingAreas areas = model.areas(ring);
    for (const std::uint16_t* word :
         {areas.avail + kRingFlagsWord, areas.avail + kRingIdxWord,
          areas.avail + used_event_word(size), areas.used + kRingFlagsWord,
          areas.used + kRingIdxWord, areas.used + avail_event_word(size)})
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(word) % Word::required_alignment, 0u) << size;
  }
}

// --- What it costs ---

TEST(RingMapping, set_up_costs_each_page_and_tear_down_each_page_and_area) {
  Rig rig(map_all());
  ASSERT_TRUE(rig.set_up());
  const CostModel& costs = rig.model.costs;
  EXPECT_EQ(rig.core().busy_ps(), kAllPages * (costs[Cost::kGup] + costs[Cost::kVmap]));
  const std::uint64_t before = rig.core().busy_ps();
  rig.mapping.tear_down(rig.core());
  EXPECT_EQ(rig.core().busy_ps() - before,
            kAllPages * (costs[Cost::kVunmap] + costs[Cost::kUnpinDirty]) +
                3 * costs[Cost::kTlbShootdown]);
  const std::uint64_t after = rig.core().busy_ps();
  rig.mapping.tear_down(rig.core());
  EXPECT_EQ(rig.core().busy_ps(), after);  // there is nothing left
}

TEST(RingMapping, only_readers_under_rcu_are_waited_for) {
  for (const Guard guard :
       {Guard::kNone, Guard::kRcu, Guard::kCounter, Guard::kSpinlock, Guard::kAtomic}) {
    Rig rig(map_all(guard));
    ASSERT_TRUE(rig.set_up());
    EXPECT_EQ(rig.count(Cost::kRcuGrace), 0u);
    rig.mapping.tear_down(rig.core());
    EXPECT_EQ(rig.count(Cost::kRcuGrace), guard == Guard::kRcu ? 1u : 0u);
  }
}

// A mapping that nobody could have used has no readers.
TEST(RingMapping, a_failed_set_up_waits_for_nobody) {
  Rig rig(map_all(Guard::kRcu));
  rig.pages.fail_after(3);
  EXPECT_FALSE(rig.set_up());
  EXPECT_EQ(rig.count(Cost::kRcuGrace), 0u);
}

TEST(RingMapping, maps_the_areas_of_the_plan_and_no_others) {
  const std::uint64_t kOf[] = {kDescPages, kAvailPages, kUsedPages};
  for (unsigned maps = 0; maps < 8; ++maps) {
    Rig rig(
        {.map_desc = (maps & 1) != 0, .map_avail = (maps & 2) != 0, .map_used = (maps & 4) != 0});
    ASSERT_TRUE(rig.set_up());
    std::uint64_t expected = 0;
    for (unsigned area = 0; area < 3; ++area) expected += (maps >> area & 1) != 0 ? kOf[area] : 0;
    EXPECT_EQ(rig.mapping.pages_mapped(), expected) << maps;
    EXPECT_EQ(rig.mapping.usable(), maps != 0) << maps;
  }
}

// Without its event word each of these areas ends where a page does.
TEST(RingMapping, event_words_are_part_of_their_areas) {
  constexpr std::uint32_t kSize = 256;
  QueueConfig ring{.size = kSize, .desc = {0}, .avail = {0x3000}, .used = {0x6000}, .features = 0};
  ring.avail.value -= avail_bytes(kSize, false);
  ring.used.value -= used_bytes(kSize, false);
  Rig rig(map_all());
  ASSERT_TRUE(rig.set_up(ring));
  EXPECT_EQ(rig.mapping.pages_mapped(), 3u);
  ring.features = test::kEventIdx;
  ASSERT_TRUE(rig.set_up(ring));
  EXPECT_EQ(rig.mapping.pages_mapped(), 5u);
}

// --- Invalidation ---

TEST(RingMapping, only_an_overlapping_invalidation_ends_it) {
  const std::uint64_t first = 0x80000 / kPageBytes;
  const auto invalidated = [](std::uint64_t page, std::uint64_t count) {
    Rig rig(map_all());
    EXPECT_TRUE(rig.set_up(ring_at(0x80000)));
    const bool hit = rig.mapping.invalidate(rig.core(), page, count);
    EXPECT_EQ(rig.mapping.usable(), !hit);
    EXPECT_EQ(rig.pages.pinned_pages(), hit ? 0u : kAllPages);
    EXPECT_EQ(rig.count(Cost::kMmuNotifier), hit ? 1u : 0u);
    EXPECT_EQ(rig.count(Cost::kTlbShootdown), hit ? 3u : 0u);
    return hit;
  };
  // Pages 0-4 descriptors, 8 avail, 12-14 used, counted from `first`.
  EXPECT_FALSE(invalidated(0, first));
  EXPECT_TRUE(invalidated(0, first + 1));
  EXPECT_TRUE(invalidated(first + 4, 1));
  EXPECT_FALSE(invalidated(first + 5, 3));
  EXPECT_TRUE(invalidated(first + 5, 4));
  EXPECT_FALSE(invalidated(first + 9, 3));
  EXPECT_TRUE(invalidated(first + 14, 100));
  EXPECT_FALSE(invalidated(first + 15, 100));
  EXPECT_FALSE(invalidated(first, 0));
}

TEST(RingMapping, a_mapping_that_is_gone_is_not_invalidated_again) {
  Rig rig(map_all());
  ASSERT_TRUE(rig.set_up());
  EXPECT_TRUE(rig.mapping.invalidate(rig.core(), 0, kPages));
  EXPECT_FALSE(rig.mapping.invalidate(rig.core(), 0, kPages));
  EXPECT_EQ(rig.count(Cost::kMmuNotifier), 1u);
}

TEST(RingMapping, invalidation_under_rcu_waits_for_readers) {
  Rig rig(map_all(Guard::kRcu));
  ASSERT_TRUE(rig.set_up());
  rig.mapping.invalidate(rig.core(), 0, kPages);
  EXPECT_EQ(rig.count(Cost::kRcuGrace), 1u);
}

}  // namespace
}  // namespace vringlab::sim
