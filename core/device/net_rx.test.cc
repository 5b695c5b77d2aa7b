#include "core/device/net_rx.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "tests/double/hostile_chains.h"
#include "tests/double/rx_expect.h"

namespace vringlab {
namespace {

using test::expect_packet;
using test::expect_used;
using test::kEventIdx;
using test::kIndirect;
using test::pattern;
using test::RxRig;

constexpr std::uint64_t kData = 0x10000;  // where tests put buffers
constexpr NetRxConfig kMergeable{.mergeable = true};
constexpr std::uint16_t kWritableNext = kDescWrite | kDescNext;

TEST(NetRx, a_packet_from_the_socket_to_its_used_element) {
  RxRig rig(8);
  rig.offer(5, kData, 1526);
  rig.socket.put(60);
  EXPECT_EQ(rig.rx.step(), Turn::kPacket);
  EXPECT_EQ(rig.ring.used_idx(), 0);  // not yet published
  EXPECT_EQ(rig.socket.outstanding, 0u);
  EXPECT_EQ(rig.rx.step(), Turn::kEmpty);
  expect_packet(rig, kData, 60, 1);
  expect_used(rig, {{5, 72}});  // i7: no more than was written
  EXPECT_EQ(rig.caller.calls, 1);
  EXPECT_EQ(rig.rx.counters().packets, 1u);
  EXPECT_EQ(rig.rx.counters().bytes, 60u);
  EXPECT_EQ(rig.rx.counters().buffers, 1u);
  EXPECT_EQ(rig.rx.counters().calls, 1u);
}

TEST(NetRx, dequeues_in_batches_and_publishes_in_batches) {
  RxRig rig(16, {.dequeue_batch = 4, .used_batch = 3});
  rig.offer_row(10, kData, 128);
  for (unsigned i = 0; i < 10; ++i) rig.socket.put(60, i);
  const std::uint16_t published[] = {0, 0, 3, 3, 3, 6, 6, 6, 9, 9};
  for (unsigned i = 0; i < 10; ++i) {
    EXPECT_EQ(rig.rx.step(), Turn::kPacket);
    EXPECT_EQ(rig.ring.used_idx(), published[i]) << i;
  }
  EXPECT_EQ(rig.rx.step(), Turn::kEmpty);
  EXPECT_EQ(rig.ring.used_idx(), 10);
  EXPECT_EQ(rig.socket.batches, (std::vector<std::size_t>{4, 4, 2}));
  EXPECT_EQ(rig.rx.counters().batches, 3u);
  for (unsigned i = 0; i < 10; ++i) expect_packet(rig, kData + i * 128, 60, 1, i);
}

TEST(NetRx, nothing_to_dequeue) {
  RxRig rig(8);
  rig.offer(0, kData, 1526);
  EXPECT_FALSE(rig.rx.pending());
  EXPECT_EQ(rig.rx.step(), Turn::kEmpty);
  rig.socket.put(60);
  rig.socket.fails = true;
  EXPECT_TRUE(rig.rx.pending());
  EXPECT_EQ(rig.rx.step(), Turn::kEmpty);
  EXPECT_EQ(rig.rx.ring().base(), 0);  // no buffer was touched
  EXPECT_EQ(rig.rx.counters().batches, 0u);
  rig.socket.fails = false;
  EXPECT_EQ(rig.run(), Turn::kEmpty);
  expect_used(rig, {{0, 72}});
}

TEST(NetRx, n06_64_packets_one_call) {
  RxRig rig(64, kMergeable);
  rig.offer_row(64, kData, 128);
  rig.socket.put(60, 1, 64);
  EXPECT_EQ(rig.run(), Turn::kEmpty);
  EXPECT_EQ(rig.ring.used_idx(), 64);
  EXPECT_EQ(rig.caller.calls, 1);
}

TEST(NetRx, calls_nobody_who_wants_none) {
  RxRig rig(8);
  rig.ring.avail_flags() = kAvailNoInterrupt;
  rig.offer(0, kData, 1526);
  rig.socket.put(60);
  rig.run();
  EXPECT_EQ(rig.caller.calls, 0);
  EXPECT_EQ(rig.ring.used_idx(), 1);
}

TEST(NetRx, calls_when_the_used_event_passes) {
  RxRig rig(8, kMergeable, kEventIdx);
  rig.offer_row(4, kData, 128);
  const int calls[] = {1, 1, 2, 2};  // the first always, then for element 2
  rig.ring.used_event() = 2;
  for (const int expected : calls) {
    rig.socket.put(60);
    EXPECT_EQ(rig.run(), Turn::kEmpty);
    EXPECT_EQ(rig.caller.calls, expected);
  }
}

// The same packet of 12 + 1500 bytes in one chain, cut up in different ways.
void receive_as(const std::vector<std::uint32_t>& lengths, bool mergeable, std::uint64_t features) {
  RxRig rig(64, {.mergeable = mergeable}, features);
  std::vector<Desc> chain;
  std::uint64_t addr = kData;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    chain.push_back({addr, lengths[i], i + 1 < lengths.size() ? kWritableNext : kDescWrite,
                     static_cast<std::uint16_t>(i + 1)});
    addr += lengths[i];
  }
  if (features != 0) {
    test::put_table(rig.guest, rig.ring, 0x8000, chain);
  } else {
    for (std::size_t i = 0; i < chain.size(); ++i) rig.ring.desc(i) = chain[i];
  }
  rig.ring.offer(0);
  rig.socket.put(1500);
  EXPECT_EQ(rig.run(), Turn::kEmpty);
  expect_packet(rig, kData, 1500, 1);
  expect_used(rig, {{0, 1512}});
}

// t4: the header has twelve bytes and num_buffers is one, mergeable or not.
TEST(NetRx, t03_t04_the_same_packet_in_all_layouts) {
  for (const std::uint64_t features : {std::uint64_t{0}, kIndirect})
    for (const bool mergeable : {false, true})
      for (const std::vector<std::uint32_t>& lengths :
           {std::vector<std::uint32_t>{12, 1500},
            {1512},
            {6, 6 + 1500},
            {12 + 700, 800},
            {12, 0, 1500},
            {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1498, 1},
            {1512, 500}})
        receive_as(lengths, mergeable, features);
}

// One buffer a chain; those side by side hold the packet as one would.
TEST(NetRx, t03_the_same_packet_over_several_buffers) {
  for (const std::vector<std::uint32_t>& lengths :
       {std::vector<std::uint32_t>{12, 1500}, {1512}, {12 + 700, 800}, {12, 1, 1, 1498}}) {
    RxRig rig(8, kMergeable);
    std::vector<UsedElem> expected;
    std::uint64_t addr = kData;
    for (const std::uint32_t len : lengths) {
      rig.offer(static_cast<std::uint16_t>(expected.size()), addr, len);
      expected.push_back({static_cast<std::uint32_t>(expected.size()), len});
      addr += len;
    }
    rig.socket.put(1500);
    EXPECT_EQ(rig.run(), Turn::kEmpty);
    expect_packet(rig, kData, 1500, static_cast<std::uint16_t>(lengths.size()));
    expect_used(rig, expected);
    EXPECT_EQ(rig.rx.counters().buffers, lengths.size());
  }
}

TEST(NetRx, t04_a_legacy_header_of_ten_bytes) {
  RxRig rig(8, {.header_bytes = 10});
  rig.offer(0, kData, 70);
  rig.socket.put(60);
  rig.run();
  EXPECT_EQ(rig.bytes_at(kData + 10, 60), pattern(60));
  expect_used(rig, {{0, 70}});
}

// What the device does to memory, one letter each: header and payload copied, used
// elements and used.idx written.
struct LogAccess : DirectAccess {
  std::string* log;
  LogAccess(const RingAreas& areas, std::string& text) : DirectAccess(areas), log(&text) {}
  void put_used_elements(std::uint16_t slot, const UsedElem* elems, std::uint16_t count) {
    *log += 'E';
    DirectAccess::put_used_elements(slot, elems, count);
  }
  void put_used_idx(std::uint16_t idx) {
    *log += 'I';
    DirectAccess::put_used_idx(idx);
  }
};
struct LogPayload : DirectPayload {
  std::string* log;
  LogPayload(const GuestMemory& memory, std::string& text) : DirectPayload(memory), log(&text) {}
  void copy_out(Transfer what, std::byte* host, const std::byte* source, std::uint32_t len) {
    *log += what == Transfer::kHeader ? 'H' : 'P';
    DirectPayload::copy_out(what, host, source, len);
  }
};

TEST(NetRx, t09_num_buffers_before_the_first_element) {
  std::string log;
  test::RawGuest guest({{0, 0x20000}});
  test::RawRing ring(guest, 8);
  test::PacketQueue socket;
  test::CountingCaller caller;
  NetRx rx(DeviceRing(LogAccess(ring.areas, log), LogPayload(guest.memory(), log), ring.config),
           socket, caller, {.used_batch = 1, .mergeable = true}, 1);
  for (std::uint16_t i = 0; i < 3; ++i) {
    ring.desc(i) = {kData + 1500u * i, 1500, kDescWrite, 0};
    ring.offer(i);
  }
  socket.put(4000);
  EXPECT_EQ(rx.step(), Turn::kPacket);
  EXPECT_EQ(log, "HPPPHEI");
  EXPECT_EQ(guest.byte(kData + 10), std::byte{3});
  EXPECT_EQ(ring.used(2), (UsedElem{2, 4012 - 3000}));
}

TEST(NetRxWaits, for_buffers_and_gives_back_what_was_too_little) {
  for (const std::uint64_t features : {std::uint64_t{0}, kEventIdx}) {
    RxRig rig(8, kMergeable, features);
    rig.offer_row(2, kData, 1500);
    rig.socket.put(60, 7);
    rig.socket.put(4000);
    EXPECT_EQ(rig.run(), Turn::kNoBuffers);
    expect_used(rig, {{0, 72}});  // published before it waits
    EXPECT_EQ(rig.caller.calls, 1);
    EXPECT_EQ(rig.rx.ring().base(), 1);
    EXPECT_FALSE(rig.rx.arm());  // one buffer is there, but was not enough
    EXPECT_EQ(rig.ring.used_flags(), 0);
    if (features != 0) {
      EXPECT_EQ(rig.ring.avail_event(), 2);
    }
    EXPECT_TRUE(rig.rx.pending());
    EXPECT_EQ(rig.run(), Turn::kNoBuffers);
    rig.offer(2, kData + 3000, 1500);
    EXPECT_TRUE(rig.rx.arm());
    rig.offer(3, kData + 4500, 1500);
    EXPECT_EQ(rig.run(), Turn::kEmpty);
    expect_used(rig, {{0, 72}, {1, 1500}, {2, 1500}, {3, 1012}});
    expect_packet(rig, kData + 1500, 4000, 3);
    EXPECT_EQ(rig.rx.counters().starved, 2u);
    EXPECT_EQ(rig.rx.counters().refused, 0u);
    EXPECT_FALSE(rig.rx.pending());
  }
}

TEST(NetRxWaits, asks_for_no_kicks_while_it_runs) {
  RxRig rig(8);
  rig.offer(0, kData, 1526);
  rig.socket.put(60, 1, 2);
  rig.rx.step();
  EXPECT_EQ(rig.ring.used_flags(), kUsedNoNotify);
  EXPECT_EQ(rig.rx.step(), Turn::kNoBuffers);
  EXPECT_FALSE(rig.rx.arm());
  EXPECT_EQ(rig.ring.used_flags(), 0);
}

// i5: indices and slots wrap; each packet takes three of the ring's eight entries.
TEST(NetRxWaits, i05_and_goes_round_the_ring) {
  RxRig rig(8, {.used_batch = 3, .mergeable = true});
  rig.ring.avail_idx() = rig.ring.used_idx() = 65530;
  rig.rx.ring().start(65530);
  for (std::uint16_t i = 0; i < 8; ++i) rig.offer(i, kData + 100u * i, 100);
  for (unsigned packet = 0; packet < 20; ++packet) {
    rig.socket.put(200, packet);
    EXPECT_EQ(rig.run(), Turn::kEmpty);
    for (unsigned k = 0; k < 3; ++k) {
      const auto slot = (65530 + 3 * packet + k) % 8;
      const auto head = static_cast<std::uint16_t>((3 * packet + k) % 8);
      EXPECT_EQ(rig.ring.used(slot), (UsedElem{head, k < 2 ? 100u : 12u}));
      rig.offer(head, kData + 100u * head, 100);
    }
  }
  EXPECT_EQ(rig.ring.used_idx(), static_cast<std::uint16_t>(65530 + 60));
  EXPECT_EQ(rig.rx.counters().packets, 20u);
}

// Buffers of one byte, offered anew as they come back.
TEST(NetRxYields, t01_to_a_million_packets_that_find_no_room) {
  RxRig rig(256, kMergeable);
  rig.offer_row(256, kData, 1);
  rig.socket.put(60, 1, 1000000);
  for (int run = 0; run < 3; ++run) {
    for (int i = 1; i < 256; ++i) EXPECT_EQ(rig.rx.step(), Turn::kPacket);
    EXPECT_EQ(rig.rx.step(), Turn::kYield);
    EXPECT_EQ(rig.ring.used_idx(), 256 * (run + 1));
    rig.ring.avail_idx() = static_cast<std::uint16_t>(rig.ring.avail_idx() + 256);
  }
  EXPECT_EQ(rig.rx.counters().refused, 3u * 256);
  EXPECT_EQ(rig.socket.waiting.size(), 1000000u - 64);
}

TEST(NetRxYields, t01_by_packets_and_by_bytes_delivered_or_dropped) {
  for (const std::uint32_t room : {72u, 71u}) {
    RxRig rig(64, {.weight = {.packets = 6, .bytes = 0x80000}});
    rig.offer_row(64, kData, room);
    rig.socket.put(60, 1, 1000000);
    for (int i = 1; i < 6; ++i) EXPECT_EQ(rig.rx.step(), Turn::kPacket);
    EXPECT_EQ(rig.rx.step(), Turn::kYield);
    EXPECT_EQ(rig.ring.used_idx(), room == 72 ? 6 : 0);  // nothing is kept back
    EXPECT_EQ(rig.rx.step(), Turn::kPacket);             // the next run has its whole weight
  }
  for (const std::uint32_t room : {72u, 71u}) {
    RxRig rig(64, {.weight = {.packets = 256, .bytes = 3 * 72}});
    rig.offer_row(64, kData, room);
    rig.socket.put(60, 1, 1000000);
    EXPECT_EQ(rig.rx.step(), Turn::kPacket);
    EXPECT_EQ(rig.rx.step(), Turn::kPacket);
    EXPECT_EQ(rig.rx.step(), Turn::kYield);
  }
}

TEST(NetRx, finish_publishes_what_was_delivered) {
  RxRig rig(8);
  rig.offer(0, kData, 1526);
  rig.socket.put(60, 1, 2);
  rig.rx.step();
  rig.rx.finish();
  expect_used(rig, {{0, 72}});
  EXPECT_TRUE(rig.rx.pending());
}

// One packet delivered and not published, two at hand: none of them outlives the reset.
TEST(NetRxReset, d05_gives_up_what_was_dequeued) {
  RxRig rig(8, {.dequeue_batch = 3});
  rig.offer_row(4, kData, 1500);
  rig.socket.put(60, 1, 4);
  EXPECT_EQ(rig.rx.step(), Turn::kPacket);
  EXPECT_EQ(rig.socket.outstanding, 2u);
  rig.rx.reset();
  EXPECT_EQ(rig.socket.outstanding, 0u);
  EXPECT_EQ(rig.rx.counters().lost, 2u);
  EXPECT_EQ(rig.rx.ring().base(), 0);
  rig.ring.avail_idx() = 0;
  EXPECT_EQ(rig.rx.step(), Turn::kNoBuffers);  // the fourth waits
  EXPECT_EQ(rig.ring.used_idx(), 0);
  rig.offer_row(4, kData, 1500);
  EXPECT_EQ(rig.run(), Turn::kEmpty);
  expect_used(rig, {{0, 72}});
}

// A packet of 20 buffers: as many as the larger ring has room for, and not the smaller one.
TEST(NetRxReset, d05_goes_on_with_a_ring_of_another_size) {
  RxRig rig(16, {.mergeable = true});
  const QueueConfig larger = test::packed_ring(32, 0, 0x1000);
  test::RawRing other(rig.guest, larger);
  rig.rx.reset();
  rig.rx.restart({DirectAccess(other.areas), DirectPayload(rig.guest.memory()), larger});
  EXPECT_EQ(rig.rx.ring().state().size, 32);
  rig.ring = other;
  rig.offer_row(32, kData, 100);
  rig.socket.put(1950);
  EXPECT_EQ(rig.run(), Turn::kEmpty);
  EXPECT_EQ(rig.ring.used_idx(), 20);
  EXPECT_EQ(rig.rx.counters().packets, 1u);
  rig.rx.reset();
  const QueueConfig smaller = test::packed_ring(16, 0);
  test::RawRing back(rig.guest, smaller);
  rig.rx.restart({DirectAccess(back.areas), DirectPayload(rig.guest.memory()), smaller});
  rig.ring = back;
  rig.ring.avail_idx() = 0;
  rig.offer_row(16, kData, 100);
  rig.socket.put(1950);
  rig.run();
  EXPECT_EQ(rig.rx.counters().dropped, 1u);
}

}  // namespace
}  // namespace vringlab
