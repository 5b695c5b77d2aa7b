#include "core/device/net_tx_zerocopy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/double/hostile_chains.h"
#include "tests/double/zerocopy_rig.h"

namespace vringlab {
namespace {

using test::HostileChain;
using test::kEventIdx;
using test::ZeroCopyRig;

constexpr std::uint64_t kPacket = 0x10000;  // where tests put a packet, header first
constexpr std::uint32_t kLong = 12 + 1500;
constexpr std::uint32_t kShort = 12 + 60;
constexpr bool kAsLent = false, kCopied = true;  // what a sink says when it completes a frame
using Heads = std::vector<std::uint32_t>;

// The bytes RawGuest::fill put behind the header.
std::vector<std::byte> filled(std::size_t bytes, unsigned first = 1 + 12) {
  std::vector<std::byte> frame(bytes);
  for (std::size_t i = 0; i < bytes; ++i) frame[i] = test::RawGuest::pattern(first + i);
  return frame;
}

TEST(NetTxZeroCopy, a_long_frame_is_lent_and_goes_back_when_completed) {
  ZeroCopyRig rig(8);
  rig.guest.fill(kPacket, kLong);
  rig.offer(5, kPacket, kLong);
  EXPECT_EQ(rig.run(), Turn::kEmpty);
  ASSERT_EQ(rig.sink.frames.size(), 1u);
  EXPECT_TRUE(rig.sink.frames[0].borrowed);
  EXPECT_EQ(rig.sink.frames[0].header.num_buffers, 0x1a18);
  EXPECT_EQ(rig.sink.frames[0].pieces[0].host, &rig.guest.byte(kPacket + 12));
  EXPECT_EQ(rig.sink.frames[0].read(), filled(1500));
  EXPECT_EQ(rig.tx.pending(), 1);
  EXPECT_EQ(rig.ring.used_idx(), 0);
  EXPECT_FALSE(rig.tx.arm());
  rig.tx.complete(rig.sink.frames[0].slot, kAsLent);
  EXPECT_TRUE(rig.tx.finished());
  EXPECT_TRUE(rig.tx.work_pending());
  EXPECT_TRUE(rig.tx.arm());
  EXPECT_EQ(rig.run(), Turn::kEmpty);
  EXPECT_EQ(rig.returned(), Heads{5});
  EXPECT_EQ(rig.caller.calls, 1);
  EXPECT_EQ(rig.tx.counters().borrowed, 1u);
  EXPECT_EQ(rig.tx.counters().packets, 1u);
  EXPECT_EQ(rig.tx.counters().bytes, 1500u);
  EXPECT_FALSE(rig.tx.arm());
}

TEST(NetTxZeroCopy, a_frame_below_the_threshold_is_copied) {
  ZeroCopyRig rig(8);
  rig.guest.fill(kPacket, kLong);
  rig.offer(0, kPacket, 12 + 255);
  rig.offer(1, kPacket, 12 + 256);
  rig.run();
  EXPECT_FALSE(rig.sink.frames[0].borrowed);
  EXPECT_EQ(rig.sink.frames[0].bytes, filled(255));
  EXPECT_TRUE(rig.sink.frames[1].borrowed);
  EXPECT_EQ(rig.returned(), Heads{0});
}

TEST(NetTxZeroCopy, a_copied_frame_waits_behind_a_borrowed_one) {
  ZeroCopyRig rig(8);
  rig.offer(3, kPacket, kShort);
  rig.offer(4, kPacket, kLong);
  rig.offer(5, kPacket, kShort);
  rig.offer(6, kPacket, 11);  // refused: waits as well
  rig.run();
  EXPECT_EQ(rig.returned(), Heads{3});
  EXPECT_EQ(rig.sink.frames.size(), 3u);
  EXPECT_EQ(rig.tx.counters().refused, 1u);
  rig.tx.complete(rig.sink.frames[1].slot, kAsLent);
  rig.run();
  EXPECT_EQ(rig.returned(), (Heads{3, 4, 5, 6}));
}

// Frames completed in random orders, the worker looking now and then.
TEST(NetTxZeroCopy, heads_come_back_in_the_order_taken_whatever_completes_first) {
  std::mt19937 random(1);
  for (const std::uint64_t features : {std::uint64_t{0}, kEventIdx})
    for (int round = 0; round < 200; ++round) {
      ZeroCopyRig rig(64, {}, features);
      Heads heads(16);
      std::iota(heads.begin(), heads.end(), 0u);
      std::ranges::shuffle(heads, random);
      for (const std::uint32_t head : heads)
        rig.offer(static_cast<std::uint16_t>(head), kPacket, kLong);
      rig.run();
      std::vector<std::uint16_t> slots;
      for (const auto& frame : rig.sink.frames) slots.push_back(frame.slot);
      ASSERT_EQ(rig.tx.pending(), 16);
      std::ranges::shuffle(slots, random);
      for (const std::uint16_t slot : slots) {
        rig.tx.complete(slot, kAsLent);
        if (random() % 2 == 0) rig.run();
        const Heads back = rig.returned();
        ASSERT_TRUE(std::equal(back.begin(), back.end(), heads.begin()));
      }
      rig.run();
      ASSERT_EQ(rig.returned(), heads);
    }
}

TEST(NetTxZeroCopy, above_the_limit_frames_are_copied) {
  ZeroCopyRig quarter(16);
  for (std::uint16_t i = 0; i < 6; ++i) quarter.offer(i, kPacket, kLong);
  quarter.run();
  EXPECT_EQ(quarter.sink.borrowed(), 4u);
  EXPECT_EQ(quarter.sink.frames.size(), 6u);
  EXPECT_EQ(quarter.tx.pending(), 4);
  EXPECT_EQ(quarter.returned(), Heads{});
  // One completed, wherever it stands, makes room for one.
  quarter.tx.complete(quarter.sink.frames[2].slot, kAsLent);
  for (std::uint16_t i = 6; i < 8; ++i) quarter.offer(i, kPacket, kLong);
  quarter.run();
  EXPECT_TRUE(quarter.sink.frames[6].borrowed);
  EXPECT_FALSE(quarter.sink.frames[7].borrowed);

  ZeroCopyRig large(1024, {.weight = {.packets = 1024}});
  for (std::uint16_t i = 0; i < 200; ++i) large.offer(i, kPacket, kLong);
  large.run();
  EXPECT_EQ(large.sink.borrowed(), 128u);

  ZeroCopyRig own(1024, {.zerocopy_max_pending = 3});
  for (std::uint16_t i = 0; i < 10; ++i) own.offer(i, kPacket, kLong);
  own.run();
  EXPECT_EQ(own.sink.borrowed(), 3u);

  ZeroCopyRig tiny(2);
  tiny.offer(0, kPacket, kLong);
  tiny.run();
  EXPECT_EQ(tiny.sink.borrowed(), 0u);
  EXPECT_EQ(tiny.returned(), Heads{0});
}

TEST(NetTxZeroCopy, nothing_is_held_back_for_more_at_the_limit) {
  ZeroCopyRig rig(8);
  for (std::uint16_t i = 0; i < 4; ++i) rig.offer(i, kPacket, kLong);
  rig.run();
  std::vector<bool> more;
  for (const auto& frame : rig.sink.frames) more.push_back(frame.more);
  EXPECT_EQ(more, (std::vector<bool>{true, false, false, false}));

  ZeroCopyRig tiny(2);
  for (std::uint16_t i = 0; i < 2; ++i) tiny.offer(i, kPacket, kLong);
  tiny.run();
  EXPECT_TRUE(tiny.sink.frames[0].more);
}

TEST(NetTxZeroCopy, frames_copied_after_all_end_the_lending_for_a_while) {
  ZeroCopyRig rig(256);
  std::uint16_t head = 0;
  const auto send = [&](int count) {
    for (; count > 0; --count) rig.offer(head++ % 256, kPacket, kLong);
    while (rig.run() != Turn::kEmpty) {
    }
    const bool borrowed = rig.sink.frames.back().borrowed;
    if (borrowed) rig.tx.complete(rig.sink.frames.back().slot, kAsLent);
    rig.run();
    return borrowed;
  };
  rig.offer(head++, kPacket, kLong);
  rig.run();
  rig.tx.complete(rig.sink.frames[0].slot, kCopied);
  rig.run();
  EXPECT_EQ(rig.tx.counters().fallbacks, 1u);
  for (int i = 1; i < 64; ++i) ASSERT_FALSE(send(1)) << i;
  EXPECT_TRUE(send(1));  // 64 packets, one failure
  EXPECT_EQ(rig.tx.counters().borrowed, 2u);
  EXPECT_EQ(rig.tx.counters().packets, 65u);
}

TEST(NetTxZeroCopy, the_sink_may_complete_before_it_returns) {
  ZeroCopyRig rig(16);
  rig.sink.on_borrow = [&](std::uint16_t slot) { rig.tx.complete(slot, kCopied); };
  for (std::uint16_t i = 0; i < 3; ++i) rig.offer(i, kPacket, kLong);
  rig.run();
  EXPECT_EQ(rig.sink.borrowed(), 1u);  // the others are copied at once
  EXPECT_EQ(rig.tx.pending(), 0);
  EXPECT_EQ(rig.returned(), (Heads{0, 1, 2}));
}

TEST(NetTxZeroCopy, a_sink_without_room_leaves_the_chain_available) {
  for (const std::uint32_t bytes : {kShort, kLong}) {
    ZeroCopyRig rig(16);
    rig.offer(0, kPacket, kLong);
    rig.run();
    rig.sink.alone_error = rig.sink.borrowed_error = RingError::kNoBuffer;
    rig.offer(1, kPacket, bytes);
    EXPECT_EQ(rig.run(), Turn::kEmpty);
    EXPECT_EQ(rig.tx.pending(), 1);
    EXPECT_EQ(rig.tx.counters().taken, 1u);
    EXPECT_FALSE(rig.tx.arm());
    rig.sink.alone_error = rig.sink.borrowed_error = RingError::kNone;
    rig.run();
    EXPECT_EQ(rig.sink.frames.size(), 2u);
    for (const auto& frame : rig.sink.frames)
      if (frame.borrowed) rig.tx.complete(frame.slot, kAsLent);
    rig.run();
    EXPECT_EQ(rig.returned(), (Heads{0, 1}));
  }
}

TEST(NetTxZeroCopy, a_frame_the_sink_refuses_goes_back_in_its_turn) {
  ZeroCopyRig rig(16);
  rig.offer(0, kPacket, kLong);
  rig.run();
  rig.sink.borrowed_error = RingError::kFrameTooLong;
  rig.offer(1, kPacket, kLong);
  rig.run();
  rig.sink.borrowed_error = RingError::kNone;
  rig.offer(2, kPacket, kLong);
  rig.run();
  EXPECT_EQ(rig.tx.pending(), 2);
  EXPECT_EQ(rig.tx.counters().refused, 1u);
  EXPECT_EQ(rig.tx.counters().last_error, RingError::kFrameTooLong);
  EXPECT_EQ(rig.returned(), Heads{});
  rig.tx.complete(rig.sink.frames[1].slot, kAsLent);
  rig.tx.complete(rig.sink.frames[0].slot, kAsLent);
  rig.run();
  EXPECT_EQ(rig.returned(), (Heads{0, 1, 2}));
}

TEST(NetTxZeroCopy, a_bad_header_never_reaches_the_sink) {
  ZeroCopyRig rig(16);
  VirtioNetHdr header;
  header.flags = kNetHdrNeedsCsum;
  header.csum_start = 0xffff;
  rig.guest.write(kPacket, header);
  rig.offer(3, kPacket, kLong);
  rig.run();
  EXPECT_EQ(rig.sink.frames.size(), 0u);
  EXPECT_EQ(rig.tx.counters().last_error, RingError::kChecksumRange);
  EXPECT_EQ(rig.returned(), Heads{3});
}

// What the sink is told of the header stays what was checked, and hdr_len is raised.
TEST(NetTxZeroCopy, the_header_is_a_copy) {
  ZeroCopyRig rig(16, {.header_bytes = 10});
  VirtioNetHdr header;
  header.flags = kNetHdrNeedsCsum;
  header.csum_start = 34;
  header.num_buffers = 0xffff;  // with a header of ten bytes, the start of the frame
  rig.guest.write(kPacket, header);
  rig.offer(0, kPacket, kLong);
  rig.run();
  EXPECT_EQ(rig.sink.frames[0].header.hdr_len, 36);
  EXPECT_EQ(rig.sink.frames[0].header.num_buffers, 0);
  EXPECT_EQ(rig.sink.frames[0].bytes.size(), 1502u);
}

TEST(NetTxZeroCopy, used_elements_wait_for_their_batch_or_the_end_of_the_run) {
  ZeroCopyRig rig(16, {.used_batch = 3});
  for (std::uint16_t i = 0; i < 5; ++i) rig.offer(i, kPacket, kShort);
  const int published[] = {0, 0, 0, 3, 3};
  for (const int expected : published) {
    EXPECT_EQ(rig.tx.step(), Turn::kPacket);
    EXPECT_EQ(rig.ring.used_idx(), expected);
  }
  EXPECT_EQ(rig.tx.step(), Turn::kEmpty);
  EXPECT_EQ(rig.ring.used_idx(), 5);
  EXPECT_EQ(rig.caller.calls, 2);
}

TEST(NetTxZeroCopy, weights_end_a_run) {
  ZeroCopyRig packets(16, {.weight = {.packets = 2}});
  for (std::uint16_t i = 0; i < 3; ++i) packets.offer(i, kPacket, kLong);
  EXPECT_EQ(packets.run(), Turn::kYield);
  EXPECT_EQ(packets.sink.frames.size(), 2u);
  EXPECT_FALSE(packets.sink.frames[1].more);

  ZeroCopyRig bytes(16, {.weight = {.bytes = 2 * kLong}});
  for (std::uint16_t i = 0; i < 3; ++i) bytes.offer(i, kPacket, kLong);
  EXPECT_EQ(bytes.run(), Turn::kYield);
  EXPECT_EQ(bytes.sink.frames.size(), 2u);
  EXPECT_FALSE(bytes.sink.frames[1].more);
}

// used_event is reached by chains that complete together, out of order.
TEST(NetTxZeroCopy, event_idx_decides_calls_by_what_is_published) {
  ZeroCopyRig rig(16, {}, kEventIdx);
  for (std::uint16_t i = 0; i < 4; ++i) rig.offer(i, kPacket, kLong);
  rig.ring.used_event() = 2;
  rig.run();
  rig.tx.complete(rig.sink.frames[0].slot, kAsLent);
  rig.run();
  EXPECT_EQ(rig.caller.calls, 1);  // the first decision is always a call
  rig.tx.complete(rig.sink.frames[2].slot, kAsLent);
  rig.run();
  EXPECT_EQ(rig.caller.calls, 1);
  rig.tx.complete(rig.sink.frames[1].slot, kAsLent);
  rig.run();
  EXPECT_EQ(rig.ring.used_idx(), 3);
  EXPECT_EQ(rig.caller.calls, 2);
  rig.tx.complete(rig.sink.frames[3].slot, kAsLent);
  rig.run();
  EXPECT_EQ(rig.caller.calls, 2);
}

TEST(NetTxZeroCopy, a_run_asks_for_no_kicks) {
  ZeroCopyRig rig(16);
  rig.offer(0, kPacket, kLong);
  rig.run();
  EXPECT_EQ(rig.ring.used_flags(), kUsedNoNotify);
  EXPECT_FALSE(rig.tx.arm());
  EXPECT_EQ(rig.ring.used_flags(), 0);
}

TEST(NetTxZeroCopy, chains_pending_when_the_queue_breaks_come_back) {
  ZeroCopyRig rig(16);
  rig.offer(0, kPacket, kLong);
  rig.offer(1, kPacket, kLong);
  rig.offer(0, kPacket, kLong);  // still the device's
  EXPECT_EQ(rig.run(), Turn::kBroken);
  EXPECT_EQ(rig.tx.pending(), 2);
  EXPECT_FALSE(rig.tx.arm());
  EXPECT_FALSE(rig.tx.reset());
  for (const int i : {1, 0})
    rig.tx.complete(rig.sink.frames[static_cast<std::size_t>(i)].slot, kAsLent);
  EXPECT_TRUE(rig.tx.arm());
  EXPECT_EQ(rig.run(), Turn::kEmpty);
  EXPECT_EQ(rig.returned(), (Heads{0, 1}));
  EXPECT_FALSE(rig.tx.arm());
  EXPECT_TRUE(rig.tx.reset());
}

TEST(NetTxZeroCopyReset, waits_until_no_piece_is_lent) {
  ZeroCopyRig rig(16);
  rig.guest.fill(kPacket, kLong);
  for (std::uint16_t i = 0; i < 3; ++i) rig.offer(i, kPacket, i == 1 ? kShort : kLong);
  rig.run();
  rig.tx.complete(rig.sink.frames[0].slot, kCopied);  // finished, not given back
  EXPECT_FALSE(rig.tx.reset());
  EXPECT_EQ(rig.tx.pending(), 1);
  EXPECT_EQ(rig.tx.ring().base(), 3);  // nothing has changed
  EXPECT_EQ(rig.sink.frames[2].read(), filled(1500));
  rig.tx.complete(rig.sink.frames[2].slot, kAsLent);
  EXPECT_TRUE(rig.tx.reset());
  EXPECT_EQ(rig.tx.ring().base(), 0);
  rig.ring.avail_idx() = 0;
  EXPECT_EQ(rig.run(), Turn::kEmpty);
  EXPECT_EQ(rig.ring.used_idx(), 0);  // nothing of the last life is written
  rig.offer(7, kPacket, kLong);
  rig.run();
  EXPECT_TRUE(rig.sink.frames.back().borrowed);  // its failures are forgotten, too
  rig.tx.complete(rig.sink.frames.back().slot, kAsLent);
  rig.run();
  EXPECT_EQ(rig.returned(), Heads{7});
}

// Every row of the table of hostile chains, sent while a frame before it is pending.
class HostileZeroCopy : public testing::TestWithParam<HostileChain> {};

TEST_P(HostileZeroCopy, head_comes_back_in_its_turn_and_the_next_packet_works) {
  const HostileChain& row = GetParam();
  ZeroCopyRig rig(test::regions_of(row.layout),
                  test::packed_ring(test::kHostileRingSize, row.features),
                  {.zerocopy_min_bytes = 0});
  rig.offer(6, 0x3000, kLong);
  rig.run();
  row.build(rig.guest, rig.ring);
  rig.ring.offer(0);
  rig.run();
  const bool good = row.error == RingError::kNone && row.bytes <= 12 + kMaxFrameBytes;
  EXPECT_EQ(rig.tx.counters().refused, good ? 0u : 1u);
  EXPECT_EQ(rig.sink.frames.size(), good ? 2u : 1u);
  if (row.error != RingError::kNone) {
    EXPECT_EQ(rig.tx.counters().last_error, row.error);
  }
  if (good) {
    EXPECT_TRUE(rig.sink.frames[1].borrowed);
    EXPECT_EQ(rig.sink.frames[1].bytes.size() + sizeof(VirtioNetHdr), row.bytes);
    rig.tx.complete(rig.sink.frames[1].slot, kAsLent);
  }
  rig.run();
  EXPECT_EQ(rig.returned(), Heads{});
  rig.tx.complete(rig.sink.frames[0].slot, kAsLent);
  rig.guest.fill(0x1000, kShort);
  rig.offer(1, 0x1000, kShort);
  rig.run();
  EXPECT_EQ(rig.sink.frames.back().bytes, filled(60));
  rig.tx.complete(rig.sink.frames.back().slot, kAsLent);
  rig.run();
  EXPECT_EQ(rig.returned(), (Heads{6, 0, 1}));
}

INSTANTIATE_TEST_SUITE_P(Tx, HostileZeroCopy, testing::ValuesIn(test::hostile_chains()),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace vringlab
