#include "core/ring/device_ring.h"

#include <gtest/gtest.h>

#include <numeric>

#include "core/memory/direct_access.h"
#include "tests/double/raw_guest.h"
#include "tests/double/spy_access.h"

namespace vringlab {
namespace {

using test::kEventIdx;
using test::RawGuest;
using test::RawRing;
using test::Spy;
using test::SpyAccess;
using test::SpyPayload;

// The device's half alone, against a raw ring; each head is one buffer of 64 bytes.
struct Device {
  RawGuest guest{{{0, 0x100000}}};
  RawRing ring;
  Spy spy;
  DeviceRing<SpyAccess, SpyPayload> device;

  explicit Device(std::uint16_t size, std::uint64_t features = 0)
      : ring(guest, size, features), device({ring.areas, spy}, {guest.memory(), spy}, ring.config) {
    for (std::uint16_t i = 0; i < size; ++i) ring.desc(i) = {0x80000, 64, 0, 0};
  }
  void offer(std::initializer_list<int> heads) {
    for (const int head : heads) ring.offer(static_cast<std::uint16_t>(head));
  }
  // The next head, or minus one.
  int next() {
    std::uint16_t head = 0;
    return device.next_head(head) == Fetch::kHead ? head : -1;
  }
  Fetch fetch() {
    std::uint16_t head = 0;
    return device.next_head(head);
  }
  RingError broken() const { return device.state().broken; }
};

TEST(DeviceFetch, takes_heads_in_the_order_of_the_avail_ring) {
  Device d(4);
  EXPECT_EQ(d.fetch(), Fetch::kEmpty);
  d.offer({2, 0, 3});
  EXPECT_EQ(d.next(), 2);
  EXPECT_EQ(d.next(), 0);
  EXPECT_EQ(d.next(), 3);
  EXPECT_EQ(d.fetch(), Fetch::kEmpty);
}

TEST(DeviceFetch, reads_the_index_only_when_its_copy_is_used_up) {
  Device d(8);
  d.offer({0, 1, 2});
  for (int i = 0; i < 3; ++i) d.next();
  EXPECT_EQ(d.spy.avail_idx_reads, 1u);
  d.next();
  EXPECT_EQ(d.spy.avail_idx_reads, 2u);
}

TEST(DeviceFetch, next_chain_walks_it) {
  Device d(4);
  std::array<Piece, 4> room;
  Chain chain{.room = room};
  RingError error = RingError::kNone;
  d.offer({3});
  ASSERT_EQ(d.device.next_chain(chain, error), Fetch::kHead);
  EXPECT_EQ(error, RingError::kNone);
  EXPECT_EQ(chain.head, 3);
  EXPECT_EQ(chain.readable_bytes, 64u);
  EXPECT_EQ(d.device.next_chain(chain, error), Fetch::kEmpty);
}

TEST(HostileIndices, w04_head_outside_the_table) {
  for (const int head : {8, 0xffff}) {
    Device d(8);
    d.offer({7, head});
    EXPECT_EQ(d.next(), 7);
    EXPECT_EQ(d.fetch(), Fetch::kBroken);
    EXPECT_EQ(d.broken(), RingError::kHeadOutOfRange);
  }
}

TEST(HostileIndices, i01_avail_index_too_far_ahead) {
  for (const int idx : {9, 0x8000, 65535}) {
    Device d(8);
    d.ring.avail_idx() = static_cast<std::uint16_t>(idx);
    EXPECT_EQ(d.fetch(), Fetch::kBroken) << idx;
    EXPECT_EQ(d.broken(), RingError::kAvailIndexAhead);
  }
}

TEST(HostileIndices, i01_a_full_ring_is_not_too_far) {
  Device d(8);
  d.offer({0, 1, 2, 3, 4, 5, 6, 7});
  for (int i = 0; i < 8; ++i) EXPECT_EQ(d.next(), i);
  EXPECT_EQ(d.broken(), RingError::kNone);
}

TEST(HostileIndices, i01_counts_from_what_was_fetched) {
  Device d(8);
  d.offer({0, 1, 2});
  for (int i = 0; i < 3; ++i) d.next();
  d.ring.avail_idx() = 3 + 9;
  EXPECT_EQ(d.fetch(), Fetch::kBroken);
}

TEST(HostileIndices, i03_fifth_head_of_four) {
  Device d(4);
  d.offer({0, 1, 2, 3});
  for (int i = 0; i < 4; ++i) d.next();
  d.offer({0});
  EXPECT_EQ(d.fetch(), Fetch::kBroken);
  EXPECT_EQ(d.broken(), RingError::kHeadInFlight);
}

TEST(HostileIndices, i04_same_head_twice) {
  Device d(4);
  d.offer({1, 1});
  EXPECT_EQ(d.next(), 1);
  EXPECT_EQ(d.fetch(), Fetch::kBroken);
  EXPECT_EQ(d.broken(), RingError::kHeadInFlight);
}

TEST(HostileIndices, i04_same_head_again_once_it_is_published) {
  Device d(4);
  d.offer({1, 1});
  EXPECT_EQ(d.next(), 1);
  d.device.push_used(1, 0);
  d.device.flush_used();
  EXPECT_EQ(d.next(), 1);
}

TEST(HostileIndices, i04_completed_but_unpublished_is_still_in_flight) {
  Device d(4);
  d.offer({1, 1});
  EXPECT_EQ(d.next(), 1);
  d.device.push_used(1, 0);
  EXPECT_EQ(d.fetch(), Fetch::kBroken);
}

TEST(HostileIndices, i09_a_broken_queue_has_no_work) {
  for (const std::uint64_t features : {std::uint64_t{0}, kEventIdx}) {
    Device d(8, features);
    d.ring.avail_idx() = 9;
    EXPECT_EQ(d.fetch(), Fetch::kBroken);
    EXPECT_EQ(d.fetch(), Fetch::kEmpty);
    EXPECT_FALSE(d.device.work_pending());
    EXPECT_FALSE(d.device.enable_notify());
  }
}

TEST(HostileIndices, i11_base_after_five_heads) {
  Device d(8);
  d.offer({0, 1, 2, 3, 4, 5, 6});
  for (int i = 0; i < 5; ++i) d.next();
  EXPECT_EQ(d.device.base(), 5);
}

TEST(Discard, gives_heads_back_in_order) {
  Device d(4);
  d.offer({3, 1, 2});
  d.next();
  d.next();
  d.next();
  d.device.discard(2);
  EXPECT_EQ(d.device.base(), 1);
  EXPECT_EQ(d.next(), 1);
  EXPECT_EQ(d.next(), 2);
  EXPECT_EQ(d.fetch(), Fetch::kEmpty);
  EXPECT_EQ(d.broken(), RingError::kNone);
}

TEST(Discard, across_the_wrap_of_ring_and_index) {
  Device d(4);
  d.ring.avail_idx() = 65534;
  d.device.start(65534);
  d.offer({0, 1, 2, 3});
  for (int i = 0; i < 4; ++i) d.next();
  d.device.discard(4);
  EXPECT_EQ(d.device.base(), 65534);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(d.next(), i);
}

TEST(UsedShadow, is_published_once_in_one_block) {
  Device d(8);
  d.offer({5, 6, 7});
  for (int i = 0; i < 3; ++i) d.next();
  d.device.push_used(6, 11);
  d.device.push_used(5, 0);
  d.device.push_used(7, 12);
  EXPECT_EQ(d.spy.used_idx_writes, 0u);
  EXPECT_EQ(d.ring.used(0), UsedElem{});  // nothing is seen before the flush
  EXPECT_EQ(d.device.flush_used(), 3);
  EXPECT_EQ(d.spy.used_idx_writes, 1u);
  EXPECT_EQ(d.spy.used_blocks, 1u);
  EXPECT_EQ(d.ring.used_idx(), 3);
  EXPECT_EQ(d.ring.used(0), (UsedElem{6, 11}));
  EXPECT_EQ(d.ring.used(1), (UsedElem{5, 0}));
  EXPECT_EQ(d.ring.used(2), (UsedElem{7, 12}));
}

TEST(UsedShadow, nothing_pending_writes_nothing) {
  Device d(8);
  EXPECT_EQ(d.device.flush_used(), 0);
  EXPECT_EQ(d.spy.used_idx_writes, 0u);
  EXPECT_EQ(d.spy.used_blocks, 0u);
}

TEST(UsedShadow, wraps_in_two_blocks_and_one_publish) {
  Device d(4);
  d.ring.used_idx() = d.ring.avail_idx() = 3;
  d.device.start(3);
  d.offer({0, 1, 2});
  for (int i = 0; i < 3; ++i) {
    d.next();
    d.device.push_used(static_cast<std::uint16_t>(i), 10 + static_cast<std::uint32_t>(i));
  }
  EXPECT_EQ(d.device.flush_used(), 3);
  EXPECT_EQ(d.spy.used_blocks, 2u);
  EXPECT_EQ(d.spy.used_idx_writes, 1u);
  EXPECT_EQ(d.ring.used_idx(), 6);
  EXPECT_EQ(d.ring.used(3), (UsedElem{0, 10}));
  EXPECT_EQ(d.ring.used(0), (UsedElem{1, 11}));
  EXPECT_EQ(d.ring.used(1), (UsedElem{2, 12}));
  EXPECT_EQ(d.ring.used(2), UsedElem{});
}

TEST(UsedShadow, up_to_the_end_of_the_ring_is_one_block) {
  Device d(4);
  d.offer({0, 1, 2, 3});
  for (std::uint16_t i = 0; i < 4; ++i) {
    d.next();
    d.device.push_used(i, 0);
  }
  d.device.flush_used();
  EXPECT_EQ(d.spy.used_blocks, 1u);
  EXPECT_EQ(d.ring.used(3), (UsedElem{3, 0}));
}

// The elements must be there when the index is: an access that looks at each write.
struct Ordered : DirectAccess {
  using DirectAccess::DirectAccess;
  bool elements = false;
  bool order_point = false;
  bool in_order = false;
  void put_used_elements(std::uint16_t, const UsedElem*, std::uint16_t) { elements = true; }
  void put_used_idx(std::uint16_t) { in_order = elements && order_point; }
  template <OrderPoint P>
  void order() {
    if (P == OrderPoint::kDevicePublishUsed) order_point = elements;
  }
};

TEST(UsedShadow, elements_come_before_the_index) {
  RawGuest guest({{0, 0x1000}});
  RawRing ring(guest, 4);
  DeviceRing<Ordered, DirectPayload> device(Ordered(ring.areas), DirectPayload(guest.memory()),
                                            ring.config);
  device.push_used(0, 0);
  device.flush_used();
  EXPECT_TRUE(device.access().in_order);
}

TEST(DeviceKicks, flags_are_written_only_on_change) {
  Device d(4);
  d.device.disable_notify();
  d.device.disable_notify();
  EXPECT_EQ(d.ring.used_flags(), kUsedNoNotify);
  EXPECT_EQ(d.spy.used_flag_writes, 1u);
  EXPECT_FALSE(d.device.enable_notify());
  EXPECT_FALSE(d.device.enable_notify());
  EXPECT_EQ(d.ring.used_flags(), 0);
  EXPECT_EQ(d.spy.used_flag_writes, 2u);
}

TEST(DeviceKicks, event_is_the_next_index_not_yet_seen) {
  Device d(4, kEventIdx);
  d.device.disable_notify();
  EXPECT_EQ(d.spy.used_flag_writes, 0u);
  d.offer({0, 1});
  EXPECT_TRUE(d.device.enable_notify());  // two came since the last look
  d.next();
  EXPECT_FALSE(d.device.enable_notify());
  EXPECT_EQ(d.ring.avail_event(), 2);
}

TEST(DeviceKicks, n04_seen_but_not_enough_is_no_change) {
  for (const std::uint64_t features : {std::uint64_t{0}, kEventIdx}) {
    Device d(8, features);
    d.offer({0, 1});
    d.next();
    d.next();
    EXPECT_EQ(d.fetch(), Fetch::kEmpty);  // the packet needs a third
    d.device.discard(2);
    EXPECT_FALSE(d.device.enable_notify());
    d.offer({2});
    EXPECT_TRUE(d.device.enable_notify());
  }
}

TEST(DeviceKicks, work_pending_sees_cached_and_new_entries) {
  Device d(8);
  EXPECT_FALSE(d.device.work_pending());
  d.offer({0, 1});
  EXPECT_TRUE(d.device.work_pending());
  d.next();
  EXPECT_TRUE(d.device.work_pending());
  d.next();
  EXPECT_FALSE(d.device.work_pending());
}

// A device that stopped while kicks were off must not leave them off.
TEST(DeviceKicks, start_takes_over_no_suppression) {
  Device d(8);
  d.device.disable_notify();
  d.device.start(0);
  EXPECT_FALSE(d.device.enable_notify());
  EXPECT_EQ(d.ring.used_flags(), 0);
}

// Completes `count` heads one publish and leaves the call decision to the test.
void complete(Device& d, int count) {
  for (int i = 0; i < count; ++i) d.device.push_used(0, 0);
  d.device.flush_used();
}

TEST(DeviceCalls, flags) {
  Device d(4);
  complete(d, 1);
  EXPECT_TRUE(d.device.should_call());
  d.ring.avail_flags() = kAvailNoInterrupt;
  EXPECT_FALSE(d.device.should_call());
  d.ring.avail_flags() = static_cast<std::uint16_t>(~kAvailNoInterrupt);
  EXPECT_TRUE(d.device.should_call());
}

TEST(DeviceCalls, event_index_counts_from_the_last_decision) {
  Device d(8, kEventIdx);
  complete(d, 1);
  EXPECT_TRUE(d.device.should_call());  // the first, whatever the event
  d.ring.used_event() = 3;
  complete(d, 2);
  EXPECT_FALSE(d.device.should_call());  // element 3 is still to come
  complete(d, 1);
  EXPECT_TRUE(d.device.should_call());
  complete(d, 1);
  EXPECT_FALSE(d.device.should_call());  // passed once, and only once
}

TEST(DeviceCalls, event_index_ignores_the_flags) {
  Device d(8, kEventIdx);
  d.ring.avail_flags() = kAvailNoInterrupt;
  complete(d, 1);
  EXPECT_TRUE(d.device.should_call());
}

TEST(DeviceCalls, n03_the_first_is_unconditional) {
  Device d(8, kEventIdx);
  d.ring.used_idx() = 100;
  d.ring.used_event() = 50;
  d.device.start(0);
  complete(d, 1);
  EXPECT_TRUE(d.device.should_call());
  complete(d, 1);
  EXPECT_FALSE(d.device.should_call());
  d.device.start(0);  // a restart knows nothing of earlier decisions
  complete(d, 1);
  EXPECT_TRUE(d.device.should_call());
}

TEST(DeviceStart, takes_both_indices_over) {
  Device d(4);
  d.ring.used_idx() = 17;
  d.ring.avail_idx() = 18;
  d.device.start(18);
  EXPECT_EQ(d.fetch(), Fetch::kEmpty);
  d.offer({2});
  EXPECT_EQ(d.next(), 2);
  d.device.push_used(2, 0);
  d.device.flush_used();
  EXPECT_EQ(d.ring.used_idx(), 18);
  EXPECT_EQ(d.ring.used(17 & 3), (UsedElem{2, 0}));
}

TEST(DeviceReset, d05_indices_are_zero_and_nothing_is_written_afterwards) {
  Device d(8, kEventIdx);
  d.ring.avail_idx() = 15;
  d.device.start(15);
  d.offer({0, 1});
  d.next();
  d.next();
  d.device.push_used(0, 0);
  EXPECT_EQ(d.device.base(), 17);
  d.device.reset();
  EXPECT_EQ(d.device.base(), 0);
  EXPECT_EQ(d.device.state().next_used, 0);
  EXPECT_EQ(d.device.flush_used(), 0);
  EXPECT_EQ(d.spy.used_blocks, 0u);
  EXPECT_EQ(d.spy.used_idx_writes, 0u);
  EXPECT_TRUE(d.device.state().event_idx);
  EXPECT_EQ(d.device.state().size, 8);
}

TEST(DeviceReset, ends_a_broken_state_and_forgets_what_was_in_flight) {
  Device d(4);
  d.offer({1, 1});
  d.next();
  EXPECT_EQ(d.fetch(), Fetch::kBroken);
  d.ring.avail_idx() = 0;
  d.device.reset();
  d.offer({1});
  EXPECT_EQ(d.next(), 1);
}

}  // namespace
}  // namespace vringlab
