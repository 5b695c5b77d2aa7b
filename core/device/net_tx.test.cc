#include "core/device/net_tx.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/double/hostile_chains.h"
#include "tests/double/spy_access.h"
#include "tests/double/tx_rig.h"

namespace vringlab {
namespace {

using test::HostileChain;
using test::kEventIdx;
using test::kIndirect;
using test::SentFrame;
using test::TxRig;

constexpr std::uint64_t kPacket = 0x10000;  // where tests put a packet, header first

// The bytes RawGuest::fill put behind the header.
std::vector<std::byte> filled(std::size_t bytes, unsigned first = 1 + 12) {
  std::vector<std::byte> frame(bytes);
  for (std::size_t i = 0; i < bytes; ++i) frame[i] = test::RawGuest::pattern(first + i);
  return frame;
}

TEST(NetTx, a_packet_from_avail_entry_to_used_element) {
  TxRig rig(8);
  rig.guest.fill(kPacket, 72);
  rig.offer(5, kPacket, 72);
  EXPECT_EQ(rig.tx.step(), Turn::kPacket);
  EXPECT_EQ(rig.ring.used_idx(), 0);  // batched, not yet sent
  EXPECT_EQ(rig.tx.step(), Turn::kEmpty);
  ASSERT_EQ(rig.sink.frames.size(), 1u);
  EXPECT_EQ(rig.sink.frames[0].bytes, filled(60));
  EXPECT_EQ(rig.sink.frames[0].header.num_buffers, 0x1a18);
  EXPECT_EQ(rig.ring.used_idx(), 1);
  EXPECT_EQ(rig.ring.used(0), (UsedElem{5, 0}));  // i7: the device wrote nothing
  EXPECT_EQ(rig.caller.calls, 1);
  EXPECT_EQ(rig.tx.counters().packets, 1u);
  EXPECT_EQ(rig.tx.counters().bytes, 60u);
  EXPECT_EQ(rig.pool.outstanding(), 0u);
}

TEST(NetTx, hands_on_whole_batches_in_order) {
  TxRig rig(16, {.batch = 4});
  for (std::uint16_t i = 0; i < 10; ++i) rig.offer(i, kPacket + i, 72);
  rig.guest.fill(kPacket, 100);
  EXPECT_EQ(rig.run(), Turn::kEmpty);
  EXPECT_EQ(rig.sink.batches, (std::vector<std::size_t>{4, 4, 2}));
  for (std::uint16_t i = 0; i < 10; ++i) {
    EXPECT_EQ(rig.sink.frames[i].bytes, filled(60, 13u + i)) << i;
    EXPECT_EQ(rig.ring.used(i).id, i);
  }
  EXPECT_EQ(rig.tx.counters().batches, 3u);
}

TEST(NetTx, n06_64_requests_one_call) {
  TxRig rig(64);
  for (std::uint16_t i = 0; i < 64; ++i) rig.offer(i, kPacket, 72);
  EXPECT_EQ(rig.run(), Turn::kEmpty);
  EXPECT_EQ(rig.sink.batches, std::vector<std::size_t>{64});
  EXPECT_EQ(rig.caller.calls, 1);
  EXPECT_EQ(rig.tx.counters().calls, 1u);
}

TEST(NetTx, calls_nobody_who_wants_none) {
  TxRig rig(8);
  rig.ring.avail_flags() = kAvailNoInterrupt;
  rig.offer(0, kPacket, 72);
  rig.run();
  EXPECT_EQ(rig.caller.calls, 0);
  EXPECT_EQ(rig.ring.used_idx(), 1);
}

TEST(NetTx, asks_for_no_kicks_while_it_runs) {
  TxRig rig(8);
  rig.offer(0, kPacket, 72);
  rig.tx.step();
  EXPECT_EQ(rig.ring.used_flags(), kUsedNoNotify);
  rig.tx.step();
  EXPECT_FALSE(rig.tx.arm());
  EXPECT_EQ(rig.ring.used_flags(), 0);
  rig.offer(1, kPacket, 72);
  EXPECT_TRUE(rig.tx.arm());
}

TEST(NetTx, i02_an_index_that_always_moves_is_capped_by_packets) {
  TxRig rig(8, {.batch = 4, .weight = {.packets = 6, .bytes = 0x80000}});
  for (std::uint16_t i = 0; i < 5; ++i) {
    rig.offer(i, kPacket, 72);
    EXPECT_EQ(rig.tx.step(), Turn::kPacket);
  }
  rig.offer(5, kPacket, 72);
  EXPECT_EQ(rig.tx.step(), Turn::kYield);
  EXPECT_EQ(rig.ring.used_idx(), 6);  // nothing is kept back
  EXPECT_EQ(rig.tx.step(), Turn::kEmpty);
  rig.offer(6, kPacket, 72);
  EXPECT_EQ(rig.tx.step(), Turn::kPacket);  // the next run has its whole weight again
}

TEST(NetTx, t01_is_capped_by_bytes) {
  TxRig rig(8, {.weight = {.packets = 256, .bytes = 3 * 72}});
  for (std::uint16_t i = 0; i < 8; ++i) rig.offer(i, kPacket, 72);
  EXPECT_EQ(rig.tx.step(), Turn::kPacket);
  EXPECT_EQ(rig.tx.step(), Turn::kPacket);
  EXPECT_EQ(rig.tx.step(), Turn::kYield);
}

// 2^32 - 1 bytes on top of a packet must not wrap the sum that the weight is held against.
TEST(NetTx, i02_the_sum_of_bytes_does_not_wrap) {
  TxRig rig({{0, 0x240000}}, test::packed_ring(4096, 0), {});
  rig.offer(0, 0x20000, 72);
  for (std::uint16_t i = 1; i < 4096; ++i)
    rig.ring.desc(i) = {0x20000, 0x100000, kDescNext, static_cast<std::uint16_t>(i + 1)};
  rig.ring.desc(1).len += 0xfffff;  // 4095 descriptors of 1 MiB, and one MiB less a byte
  rig.ring.desc(4095).flags = 0;
  EXPECT_EQ(rig.tx.step(), Turn::kPacket);
  rig.ring.offer(1);
  EXPECT_EQ(rig.tx.step(), Turn::kYield);
  EXPECT_EQ(rig.tx.counters().last_error, RingError::kFrameTooLong);
}

// The same packet of 12 + 1500 bytes, cut up in different ways.
std::vector<SentFrame> sent_as(const std::vector<std::uint32_t>& lengths, std::uint64_t features) {
  TxRig rig(64, {}, features);
  rig.guest.fill(kPacket, 1512);
  std::vector<Desc> chain;
  std::uint64_t addr = kPacket;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    chain.push_back({addr, lengths[i], i + 1 < lengths.size() ? kDescNext : std::uint16_t{0},
                     static_cast<std::uint16_t>(i + 1)});
    addr += lengths[i];
  }
  EXPECT_EQ(addr, kPacket + 1512);
  if (features != 0) {
    test::put_table(rig.guest, rig.ring, 0x8000, chain);
  } else {
    for (std::size_t i = 0; i < chain.size(); ++i) rig.ring.desc(i) = chain[i];
  }
  rig.ring.offer(0);
  EXPECT_EQ(rig.run(), Turn::kEmpty);
  EXPECT_EQ(rig.ring.used_idx(), 1);
  return rig.sink.frames;
}

TEST(NetTx, t03_the_same_packet_in_all_layouts) {
  for (const std::uint64_t features : {std::uint64_t{0}, kIndirect})
    for (const std::vector<std::uint32_t>& lengths : {std::vector<std::uint32_t>{12, 1500},
                                                      {1512},
                                                      {6, 6 + 1500},
                                                      {12 + 700, 800},
                                                      {12, 0, 1500},
                                                      {1, 10, 1, 1499, 1}}) {
      const auto frames = sent_as(lengths, features);
      ASSERT_EQ(frames.size(), 1u);
      EXPECT_EQ(frames[0].bytes, filled(1500));
      EXPECT_EQ(frames[0].header.flags, 4);
      EXPECT_EQ(frames[0].header.num_buffers, 0x1a18);
    }
}

TEST(NetTx, t02_header_of_twelve_one_byte_descriptors) {
  TxRig rig(16);
  rig.guest.fill(kPacket, 72);
  for (std::uint16_t i = 0; i < 12; ++i)
    rig.ring.desc(i) = {kPacket + i, 1, kDescNext, static_cast<std::uint16_t>(i + 1)};
  rig.ring.desc(12) = {kPacket + 12, 60, 0, 0};
  rig.ring.offer(0);
  rig.run();
  ASSERT_EQ(rig.sink.frames.size(), 1u);
  EXPECT_EQ(rig.sink.frames[0].bytes, filled(60));
  EXPECT_EQ(rig.sink.frames[0].header.num_buffers, 0x1a18);
}

// A chain that can't be sent comes back with length 0, and the next packet is none the worse.
void expect_refused_then_good(TxRig& rig, RingError error) {
  rig.run();
  EXPECT_EQ(rig.ring.used_idx(), 1);
  EXPECT_EQ(rig.ring.used(0), (UsedElem{0, 0}));
  EXPECT_EQ(rig.sink.frames.size(), 0u);
  EXPECT_EQ(rig.tx.counters().refused, 1u);
  EXPECT_EQ(rig.tx.counters().last_error, error) << describe(rig.tx.counters().last_error);
  rig.guest.fill(0x1000, 72);
  rig.offer(1, 0x1000, 72);
  rig.run();
  ASSERT_EQ(rig.sink.frames.size(), 1u);
  EXPECT_EQ(rig.sink.frames[0].bytes, filled(60));
  EXPECT_EQ(rig.ring.used(1), (UsedElem{1, 0}));
  EXPECT_EQ(rig.ring.used_idx(), 2);
  EXPECT_EQ(rig.pool.outstanding(), 0u);
}

TEST(NetTx, t02_chains_of_0_11_and_12_bytes) {
  const std::pair<std::uint32_t, RingError> rows[] = {{0, RingError::kHeaderTooShort},
                                                      {11, RingError::kHeaderTooShort},
                                                      {12, RingError::kFrameTooShort}};
  for (const auto& [bytes, error] : rows) {
    TxRig rig(8);
    rig.offer(0, kPacket, bytes);
    expect_refused_then_good(rig, error);
  }
}

TEST(NetTx, t05_frames_of_0_to_13_bytes) {
  for (std::uint32_t frame = 0; frame < 14; ++frame) {
    TxRig rig(8);
    rig.offer(0, kPacket, 12 + frame);
    expect_refused_then_good(rig, RingError::kFrameTooShort);
  }
  TxRig rig(8);
  rig.offer(0, kPacket, 12 + 14);
  rig.run();
  EXPECT_EQ(rig.sink.frames.size(), 1u);
}

TEST(NetTx, refuses_a_writable_part) {
  TxRig rig(8);
  rig.ring.desc(0) = {kPacket, 72, kDescNext, 2};
  rig.ring.desc(2) = {kPacket, 1, kDescWrite, 0};
  rig.ring.offer(0);
  expect_refused_then_good(rig, RingError::kUnexpectedWritable);
}

TEST(NetTx, without_buffers_puts_the_chain_back_and_stops) {
  TxRig rig(8);
  rig.offer(0, kPacket, 72);
  EXPECT_EQ(rig.tx.step(), Turn::kPacket);
  std::vector<std::byte*> taken;
  while (std::byte* chunk = rig.pool.allocate(kFragChunkBytes)) taken.push_back(chunk);
  while (std::byte* rest = rig.pool.allocate(64)) taken.push_back(rest);
  rig.offer(1, kPacket, 72);
  EXPECT_EQ(rig.tx.step(), Turn::kEmpty);
  EXPECT_EQ(rig.tx.counters().last_error, RingError::kNoBuffer);
  EXPECT_EQ(rig.tx.counters().refused, 0u);
  EXPECT_EQ(rig.ring.used_idx(), 1);  // what was batched before is sent
  EXPECT_FALSE(rig.tx.arm());         // waits for the next kick, spins not
  for (const std::byte* chunk : taken) rig.pool.release(chunk);
  EXPECT_EQ(rig.run(), Turn::kEmpty);
  EXPECT_EQ(rig.tx.counters().packets, 2u);
  EXPECT_EQ(rig.tx.counters().taken, 2u);
  EXPECT_EQ(rig.ring.used(1), (UsedElem{1, 0}));
}

// Every row of the table of hostile chains, sent.
class HostileTx : public testing::TestWithParam<HostileChain> {};

TEST_P(HostileTx, head_comes_back_and_the_next_packet_works) {
  const HostileChain& row = GetParam();
  TxRig rig(test::regions_of(row.layout), test::packed_ring(test::kHostileRingSize, row.features),
            {});
  row.build(rig.guest, rig.ring);
  rig.ring.offer(0);
  if (row.error != RingError::kNone) {
    expect_refused_then_good(rig, row.error);
  } else if (row.bytes - 12 > kMaxFrameBytes) {
    expect_refused_then_good(rig, RingError::kFrameTooLong);
  } else {
    rig.run();
    EXPECT_EQ(rig.tx.counters().bytes + sizeof(VirtioNetHdr), row.bytes);
    EXPECT_EQ(rig.ring.used(0), (UsedElem{0, 0}));
  }
}

INSTANTIATE_TEST_SUITE_P(Tx, HostileTx, testing::ValuesIn(test::hostile_chains()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(NetTx, i01_what_was_taken_before_the_queue_broke_is_sent) {
  TxRig rig(8);
  rig.offer(0, kPacket, 72);
  rig.offer(0, kPacket, 72);
  EXPECT_EQ(rig.run(), Turn::kBroken);
  EXPECT_EQ(rig.sink.frames.size(), 1u);
  EXPECT_EQ(rig.ring.used_idx(), 1);
  EXPECT_EQ(rig.tx.step(), Turn::kEmpty);  // i9
  EXPECT_FALSE(rig.tx.arm());
}

TEST(NetTx, t07_a_failed_send_frees_the_batch_and_starts_anew) {
  TxRig rig(128);
  rig.sink.refuses = true;
  for (std::uint16_t i = 0; i < 64; ++i) rig.offer(i, kPacket, 72);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(rig.tx.step(), Turn::kPacket);
  EXPECT_EQ(rig.sink.batches, std::vector<std::size_t>{64});
  EXPECT_EQ(rig.pool.outstanding(), 0u);
  EXPECT_EQ(rig.tx.counters().dropped, 64u);
  EXPECT_EQ(rig.ring.used_idx(), 64);  // lost, but the driver has its buffers back
  rig.sink.refuses = false;
  rig.offer(64, kPacket, 72);
  rig.run();
  EXPECT_EQ(rig.sink.batches, (std::vector<std::size_t>{64, 1}));
  EXPECT_EQ(rig.tx.counters().packets, 1u);
  EXPECT_EQ(rig.pool.outstanding(), 0u);
}

// Packets of many lengths, some of them bad, sent with the given batch of copies.
void send_mixture(TxRig& rig) {
  rig.guest.fill(kPacket, 4000);
  for (std::uint16_t i = 0; i < 40; ++i) rig.offer(i, kPacket + i, i % 7 == 3 ? 20 : 40u * i + 26);
  EXPECT_EQ(rig.run(), Turn::kEmpty);
}

TEST(CopyBatch, gives_the_same_bytes_in_the_same_order) {
  TxRig single(64, {.batch = 8, .copy_batch = 1});
  send_mixture(single);
  for (const std::uint32_t copy_batch : {2u, 3u, 8u, 64u}) {
    TxRig rig(64, {.batch = 8, .copy_batch = copy_batch});
    send_mixture(rig);
    ASSERT_EQ(rig.sink.frames.size(), single.sink.frames.size());
    for (std::size_t i = 0; i < rig.sink.frames.size(); ++i)
      EXPECT_EQ(rig.sink.frames[i].bytes, single.sink.frames[i].bytes) << copy_batch << ' ' << i;
    for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(rig.ring.used(i), single.ring.used(i));
    EXPECT_EQ(rig.ring.used_idx(), 40);
  }
}

// t7: no batch is longer than what the sink was promised, whatever came between.
TEST(CopyBatch, t07_never_fills_a_batch_beyond_its_size) {
  for (const std::uint32_t copy_batch : {1u, 2u, 3u, 5u, 8u, 64u}) {
    TxRig rig(64, {.batch = 8, .copy_batch = copy_batch});
    send_mixture(rig);
    for (const std::size_t size : rig.sink.batches) EXPECT_LE(size, 8u) << copy_batch;
    EXPECT_EQ(rig.sink.batches.front(), 8u);
  }
}

TEST(CopyBatch, copies_are_made_in_one_go) {
  test::RawGuest guest({{0, 0x20000}});
  test::RawRing ring(guest, 8);
  test::Spy spy;
  std::vector<std::byte> host(4 * kFragChunkBytes);
  PageFragPool pool(host);
  test::KeepingSink sink{.pool = &pool, .refuses = false, .frames = {}, .batches = {}};
  test::CountingCaller caller;
  NetTx tx(DeviceRing(test::SpyAccess(ring.areas, spy), test::SpyPayload(guest.memory(), spy),
                      ring.config),
           pool, sink, caller, {.copy_batch = 4}, 1);
  for (std::uint16_t i = 0; i < 6; ++i) {
    ring.desc(i) = {kPacket, 72, 0, 0};
    ring.offer(i);
  }
  while (tx.step() == Turn::kPacket) {
  }
  EXPECT_EQ(spy.copy_sections, 2u);
  EXPECT_EQ(sink.frames.size(), 6u);
}

// Two packets copied, one staged, one refused: none of them outlives the reset.
TEST(NetTxReset, d05_gives_up_what_was_taken) {
  TxRig rig(8, {.batch = 8, .copy_batch = 2});
  for (std::uint16_t i = 0; i < 4; ++i) rig.offer(i, kPacket, i == 2 ? 11 : 72);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(rig.tx.step(), Turn::kPacket);
  EXPECT_EQ(rig.pool.outstanding(), 3u);
  rig.tx.reset();
  EXPECT_EQ(rig.pool.outstanding(), 0u);
  EXPECT_EQ(rig.tx.ring().base(), 0);
  rig.ring.avail_idx() = 0;
  EXPECT_EQ(rig.run(), Turn::kEmpty);
  EXPECT_EQ(rig.ring.used_idx(), 0);
  for (std::uint16_t i = 0; i < 8; ++i) rig.offer(i, kPacket, 72);
  EXPECT_EQ(rig.run(), Turn::kEmpty);
  EXPECT_EQ(rig.sink.frames.size(), 8u);
  EXPECT_EQ(rig.ring.used_idx(), 8);
}

}  // namespace
}  // namespace vringlab
