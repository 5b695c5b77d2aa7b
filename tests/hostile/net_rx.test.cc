// The receive loop against a driver that offers what is malformed, too small or too much.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "tests/double/hostile_chains.h"
#include "tests/double/rx_expect.h"

namespace vringlab {
namespace {

using test::expect_packet;
using test::expect_used;
using test::HostileChain;
using test::kIndirect;
using test::RxRig;

constexpr std::uint64_t kData = 0x10000;  // where tests put buffers
constexpr std::uint32_t kHeader = sizeof(VirtioNetHdr);
constexpr NetRxConfig kMergeable{.mergeable = true};
constexpr std::uint16_t kWritableNext = kDescWrite | kDescNext;

// Of three buffers the one at `bad` is malformed: all up to it come back, no more.
void expect_given_back(std::uint16_t bad, const Desc& desc, RingError error) {
  RxRig rig(8, kMergeable);
  rig.offer_row(3, kData, 1500);
  rig.ring.desc(bad) = desc;
  rig.socket.put(4000);
  EXPECT_EQ(rig.rx.step(), Turn::kPacket);
  EXPECT_EQ(rig.rx.step(), Turn::kNoBuffers);
  std::vector<UsedElem> back;
  for (std::uint16_t i = 0; i <= bad; ++i) back.push_back({i, 0});
  expect_used(rig, back);
  EXPECT_EQ(rig.rx.counters().refused, back.size());
  EXPECT_EQ(rig.rx.counters().last_error, error) << describe(rig.rx.counters().last_error);
  EXPECT_EQ(rig.socket.outstanding, 1u);
  // The packet takes what is left and what comes.
  rig.offer(bad, kData, 1500);
  for (std::uint16_t i = 0; i < bad; ++i) rig.offer(i, kData + 0x4000 + 1500u * i, 1500);
  EXPECT_EQ(rig.run(), Turn::kEmpty);
  EXPECT_EQ(rig.ring.used_idx(), back.size() + 3);
  EXPECT_EQ(rig.rx.counters().packets, 1u);
  EXPECT_EQ(rig.rx.counters().bytes, 4000u);
  EXPECT_EQ(rig.socket.outstanding, 0u);
}

TEST(HostileRxQueue, t08_t09_all_are_given_back_if_one_is_malformed) {
  for (std::uint16_t bad = 0; bad < 3; ++bad) {
    expect_given_back(bad, {kData, 1500, 0, 0}, RingError::kUnexpectedReadable);
    expect_given_back(bad, {kData, 1500, kDescWrite | kDescNext, 8}, RingError::kNextOutOfRange);
    expect_given_back(bad, {0x3ffff, 1500, kDescWrite, 0}, RingError::kAddressOutsideMemory);
    // w19: a chain of no bytes would be no progress.
    expect_given_back(bad, {kData, 0, kDescWrite, 0},
                      bad == 0 ? RingError::kHeaderTooShort : RingError::kNothingWritable);
  }
}

TEST(HostileRxQueue, w17_a_readable_part_is_refused) {
  RxRig rig(8);
  rig.ring.desc(0) = {kData, 12, kDescNext, 2};
  rig.ring.desc(2) = {kData + 12, 1500, kDescWrite, 0};
  rig.ring.offer(0);
  rig.socket.put(60);
  rig.run();
  expect_used(rig, {{0, 0}});
  EXPECT_EQ(rig.rx.counters().last_error, RingError::kUnexpectedReadable);
}

TEST(HostileRxQueue, t02_the_first_buffer_holds_the_header) {
  for (const bool mergeable : {false, true}) {
    RxRig rig(8, {.mergeable = mergeable});
    rig.offer(0, kData, 11);
    rig.offer(1, kData, 1500);
    rig.socket.put(60);
    EXPECT_EQ(rig.run(), Turn::kEmpty);
    expect_used(rig, {{0, 0}, {1, 72}});
    EXPECT_EQ(rig.rx.counters().last_error, RingError::kHeaderTooShort);
  }
  RxRig rig(8, kMergeable);
  rig.offer(0, kData, 12);
  rig.offer(1, kData + 12, 1500);
  rig.socket.put(60);
  EXPECT_EQ(rig.run(), Turn::kEmpty);
  expect_used(rig, {{0, 12}, {1, 60}});
}

// Every row of the table of hostile chains, its buffers writable, at the head of the
// queue: it comes back, used or not, and a good buffer behind it takes the next packet.
class HostileRx : public testing::TestWithParam<HostileChain> {};

TEST_P(HostileRx, head_comes_back_and_the_packet_finds_the_next_buffer) {
  const HostileChain& row = GetParam();
  RxRig rig(test::regions_of(row.layout), test::packed_ring(test::kHostileRingSize, row.features),
            {});
  row.build(rig.guest, rig.ring);
  test::make_writable(rig.guest, rig.ring);
  rig.ring.offer(0);
  rig.socket.put(20);
  EXPECT_EQ(rig.rx.step(), Turn::kPacket);
  const RingError error = rig.rx.counters().last_error;
  // Writable throughout, the readable part in the wrong place is none.
  if (row.error != RingError::kReadableAfterWritable) {
    EXPECT_EQ(error, row.error) << describe(error);
  }
  if (error != RingError::kNone) {
    rig.offer(1, 0x3000, 64);
    EXPECT_EQ(rig.rx.step(), Turn::kPacket);
    EXPECT_EQ(rig.rx.step(), Turn::kEmpty);
    expect_used(rig, {{0, 0}, {1, 32}});
    expect_packet(rig, 0x3000, 20, 1);
  } else {
    EXPECT_EQ(rig.rx.step(), Turn::kEmpty);
    expect_used(rig, {{0, 32}});
  }
  EXPECT_EQ(rig.socket.outstanding, 0u);
}

INSTANTIATE_TEST_SUITE_P(Rx, HostileRx, testing::ValuesIn(test::hostile_chains()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(NetRxDrops, what_a_plain_buffer_cannot_hold) {
  RxRig rig(8);
  rig.offer(3, kData, 1512);
  rig.socket.put(1501);
  rig.socket.put(1500, 9);
  EXPECT_EQ(rig.rx.step(), Turn::kPacket);
  EXPECT_EQ(rig.rx.counters().dropped, 1u);
  EXPECT_EQ(rig.rx.ring().base(), 0);
  EXPECT_EQ(rig.socket.outstanding, 1u);
  EXPECT_EQ(rig.run(), Turn::kEmpty);  // the same buffer serves the next
  expect_packet(rig, kData, 1500, 1, 9);
  expect_used(rig, {{3, 1512}});
}

TEST(NetRxDrops, what_the_whole_ring_cannot_hold) {
  RxRig rig(4, kMergeable);
  rig.offer_row(4, kData, 100);
  rig.socket.put(389);
  rig.socket.put(388, 9);
  EXPECT_EQ(rig.run(), Turn::kEmpty);
  EXPECT_EQ(rig.rx.counters().dropped, 1u);
  expect_packet(rig, kData, 388, 4, 9);
  expect_used(rig, {{0, 100}, {1, 100}, {2, 100}, {3, 100}});
}

TEST(NetRxDrops, what_takes_more_buffers_than_a_packet_may) {
  RxRig rig(2048, {.mergeable = true});
  rig.offer(0, kData, 12);
  for (std::uint16_t i = 1; i < 2048; ++i) rig.offer(i, kData + 11u + i, 1);
  rig.socket.put(1024);
  rig.socket.put(1023, 9);
  EXPECT_EQ(rig.run(), Turn::kEmpty);
  EXPECT_EQ(rig.rx.counters().dropped, 1u);
  EXPECT_EQ(rig.ring.used_idx(), 1024);
  expect_packet(rig, kData, 1023, 1024, 9);
}

// Chains of `descriptors` descriptors of 100 bytes each, side by side from `first` on.
void offer_chain(RxRig& rig, std::uint16_t first, std::uint16_t descriptors) {
  for (std::uint16_t i = first; i < first + descriptors; ++i) {
    const bool last = i + 1 == first + descriptors;
    rig.ring.desc(i) = {kData + 100u * i, 100, last ? kDescWrite : kWritableNext,
                        static_cast<std::uint16_t>(i + 1)};
  }
  rig.ring.offer(first);
}

// Chains of several descriptors use the ring up before its heads: the driver has nothing
// left to offer, and a packet that is longer still is not waited for.
TEST(NetRxDrops, w09_what_all_descriptors_of_the_ring_cannot_hold) {
  for (const auto each : std::to_array<std::uint16_t>({2, 4, 8})) {
    RxRig rig(8, kMergeable);
    for (std::uint16_t first = 0; first < 8; first += each) offer_chain(rig, first, each);
    rig.socket.put(800 - kHeader + 1);
    rig.socket.put(800 - kHeader, 9);
    EXPECT_EQ(rig.run(), Turn::kEmpty) << each;
    EXPECT_EQ(rig.rx.counters().dropped, 1u);
    EXPECT_EQ(rig.rx.counters().starved, 0u);
    expect_packet(rig, kData, 800 - kHeader, static_cast<std::uint16_t>(8 / each), 9);
  }
}

// Three of eight descriptors a chain: two are left, and a chain of two may come.
TEST(NetRxDrops, w09_nothing_while_a_descriptor_is_left_to_offer) {
  RxRig rig(8, kMergeable);
  offer_chain(rig, 0, 3);
  offer_chain(rig, 3, 3);
  rig.socket.put(800 - kHeader);
  for (int look = 0; look < 3; ++look) {
    EXPECT_EQ(rig.run(), Turn::kNoBuffers);
    EXPECT_FALSE(rig.rx.arm());  // it sleeps, however often somebody wakes it
  }
  offer_chain(rig, 6, 1);
  EXPECT_TRUE(rig.rx.arm());
  EXPECT_EQ(rig.run(), Turn::kNoBuffers);  // 700 bytes
  offer_chain(rig, 7, 1);
  EXPECT_EQ(rig.run(), Turn::kEmpty);
  EXPECT_EQ(rig.rx.counters().dropped, 0u);
  expect_packet(rig, kData, 800 - kHeader, 4);
}

// A chain of a table takes one descriptor of the ring, besides those that lead to it.
TEST(NetRxDrops, w09_tables_count_as_the_descriptor_that_names_them) {
  RxRig rig(4, kMergeable, kIndirect);
  const Desc buffers[] = {{kData, 100, kWritableNext, 1}, {kData + 100, 100, kDescWrite, 0}};
  test::put_table(rig.guest, rig.ring, 0x8000, buffers);
  rig.ring.offer(0);
  rig.socket.put(1000);
  EXPECT_EQ(rig.run(), Turn::kNoBuffers);  // three are left
  rig.ring.desc(1) = {kData + 200, 50, kWritableNext, 2};
  rig.ring.desc(2) = {0x8000, sizeof(buffers), kDescIndirect, 0};
  rig.ring.offer(1);
  EXPECT_EQ(rig.run(), Turn::kNoBuffers);  // one is left
  rig.offer(3, kData + 300, 10);
  EXPECT_EQ(rig.run(), Turn::kEmpty);
  EXPECT_EQ(rig.rx.counters().dropped, 1u);
  EXPECT_EQ(rig.ring.used_idx(), 0);
}

// Chains that share a descriptor, as no driver makes them, cost the guest its packet.
TEST(NetRxDrops, w09_what_chains_with_a_common_end_cannot_hold) {
  RxRig rig(4, kMergeable);
  offer_chain(rig, 1, 3);
  rig.ring.desc(0) = {kData, 100, kWritableNext, 3};
  rig.ring.offer(0);
  rig.socket.put(1000);
  EXPECT_EQ(rig.run(), Turn::kEmpty);
  EXPECT_EQ(rig.rx.counters().dropped, 1u);
}

void offer_tables(RxRig& rig, std::uint32_t len, std::uint32_t last) {
  test::put_writable_tables(rig.guest, rig.ring, len, last);
  for (std::uint16_t head = 0; head < 8; ++head) rig.ring.offer(head);
}

// Chains of tables have more descriptors than the ring: no packet gets more than its
// room of pieces, or more of the device's time by descriptors that hold nothing.
TEST(NetRxDrops, w08_what_takes_more_descriptors_than_it_may) {
  for (const std::uint32_t len : {2u, 0u}) {
    RxRig rig(8, {.mergeable = true, .max_buffers = 8}, kIndirect);
    offer_tables(rig, len, 16);
    const std::uint32_t one_chain = 7 * len + 16;
    rig.socket.put(one_chain - kHeader + 1);
    rig.socket.put(one_chain - kHeader);
    EXPECT_EQ(rig.run(), Turn::kEmpty);
    EXPECT_EQ(rig.rx.counters().dropped, 1u);
    EXPECT_EQ(rig.rx.counters().refused, 0u);
    expect_used(rig, {{0, one_chain}});
  }
}

TEST(NetRxDrops, w08_nothing_that_tables_can_hold) {
  RxRig rig(8, kMergeable, kIndirect);
  offer_tables(rig, 2, 2);
  rig.socket.put(8 * 16 - kHeader);
  EXPECT_EQ(rig.run(), Turn::kEmpty);
  EXPECT_EQ(rig.rx.counters().dropped, 0u);
  EXPECT_EQ(rig.ring.used_idx(), 8);
}

// The first packet is delivered; for the second the queue breaks at its second buffer.
TEST(HostileRxQueue, i01_what_was_delivered_before_the_queue_broke_is_published) {
  RxRig rig(8, kMergeable);
  rig.offer(0, kData, 1500);
  rig.offer(1, kData + 1500, 1500);
  rig.offer(1, kData + 1500, 1500);
  rig.socket.put(60);
  rig.socket.put(2000);
  EXPECT_EQ(rig.run(), Turn::kBroken);
  expect_used(rig, {{0, 72}});
  EXPECT_EQ(rig.rx.ring().base(), 1);
  EXPECT_EQ(rig.rx.step(), Turn::kNoBuffers);  // i9: no work, though there is a packet
  EXPECT_FALSE(rig.rx.arm());
  EXPECT_EQ(rig.ring.used_idx(), 1);
}

}  // namespace
}  // namespace vringlab
