// Frames that a transmit queue sends by a call of their own.
#include <gtest/gtest.h>

#include "tests/double/tx_rig.h"

namespace vringlab {
namespace {

using test::TxRig;

constexpr std::uint64_t kPacket = 0x10000;
constexpr std::uint32_t kLong = 12 + 9000;  // no XDP buffer is that large
constexpr std::uint32_t kShort = 12 + 60;
constexpr NetTxConfig kLimited{.batch = 4, .socket = {.batches = false}};

TEST(NetTxAlone, a_frame_above_a_page_goes_alone_and_in_order) {
  TxRig rig(16, {.batch = 4});
  rig.guest.fill(kPacket, kLong);
  for (const std::uint32_t bytes : {kShort, kShort, kLong, kShort})
    rig.offer(static_cast<std::uint16_t>(rig.ring.avail_idx()), kPacket, bytes);
  EXPECT_EQ(rig.run(), Turn::kEmpty);
  EXPECT_EQ(rig.sink.batches, (std::vector<std::size_t>{2, 1, 1}));
  ASSERT_EQ(rig.sink.frames.size(), 4u);
  EXPECT_EQ(rig.sink.frames[2].bytes.size(), 9000u);
  EXPECT_EQ(rig.sink.frames[2].bytes[8999], test::RawGuest::pattern(1 + kLong - 1));
  for (std::uint16_t i = 0; i < 4; ++i) EXPECT_EQ(rig.ring.used(i), (UsedElem{i, 0}));
  EXPECT_EQ(rig.tx.counters().alone, 1u);
  EXPECT_EQ(rig.tx.counters().bytes, 3 * 60u + 9000u);
  EXPECT_EQ(rig.pool.outstanding(), 0u);
}

TEST(NetTxAlone, a_limited_send_buffer_takes_one_frame_a_call) {
  TxRig rig(16, kLimited);
  for (std::uint16_t i = 0; i < 6; ++i) rig.offer(i, kPacket, kShort);
  for (int i = 0; i < 3; ++i) rig.tx.step();
  EXPECT_EQ(rig.sink.frames.size(), 3u);  // sent at once
  EXPECT_EQ(rig.ring.used_idx(), 0);      // given back four at a time
  rig.tx.step();
  EXPECT_EQ(rig.ring.used_idx(), 4);
  EXPECT_EQ(rig.run(), Turn::kEmpty);
  EXPECT_EQ(rig.ring.used_idx(), 6);
  EXPECT_EQ(rig.tx.counters().batches, 0u);
}

TEST(NetTxAlone, more_is_to_come_until_the_queue_or_a_weight_is_used_up) {
  TxRig rig(16, kLimited);
  for (std::uint16_t i = 0; i < 3; ++i) rig.offer(i, kPacket, kShort);
  rig.run();
  EXPECT_EQ(rig.sink.more, (std::vector<bool>{true, true, false}));

  NetTxConfig bytes = kLimited;
  bytes.weight.bytes = 2 * kShort;
  TxRig heavy(16, bytes);
  for (std::uint16_t i = 0; i < 3; ++i) heavy.offer(i, kPacket, kShort);
  EXPECT_EQ(heavy.run(), Turn::kYield);
  EXPECT_EQ(heavy.sink.more, (std::vector<bool>{true, false}));

  NetTxConfig packets = kLimited;
  packets.weight.packets = 2;
  TxRig many(16, packets);
  for (std::uint16_t i = 0; i < 3; ++i) many.offer(i, kPacket, kShort);
  EXPECT_EQ(many.run(), Turn::kYield);
  EXPECT_EQ(many.sink.more, (std::vector<bool>{true, false}));
}

TEST(NetTxAlone, a_socket_without_room_leaves_the_chain_available) {
  TxRig rig(16, kLimited);
  for (std::uint16_t i = 0; i < 2; ++i) rig.offer(i, kPacket, kShort);
  rig.tx.step();
  rig.sink.alone_error = RingError::kNoBuffer;
  EXPECT_EQ(rig.tx.step(), Turn::kEmpty);
  EXPECT_EQ(rig.ring.used_idx(), 1);
  rig.sink.alone_error = RingError::kNone;
  EXPECT_EQ(rig.run(), Turn::kEmpty);
  EXPECT_EQ(rig.sink.frames.size(), 2u);
  EXPECT_EQ(rig.ring.used(1), (UsedElem{1, 0}));
}

TEST(NetTxAlone, t06_a_refused_header_gives_the_head_back) {
  for (const bool batches : {true, false}) {
    TxRig rig(16, {.socket = {.batches = batches}});
    VirtioNetHdr header;
    header.flags = kNetHdrNeedsCsum;
    header.csum_start = 0xffff;
    std::memcpy(&rig.guest.byte(kPacket), &header, sizeof(header));
    rig.offer(3, kPacket, kShort);
    rig.offer(4, kPacket + 256, kShort);  // zeroes: a good one
    EXPECT_EQ(rig.run(), Turn::kEmpty);
    EXPECT_EQ(rig.sink.frames.size(), 1u);
    EXPECT_EQ(rig.ring.used(0), (UsedElem{3, 0}));
    EXPECT_EQ(rig.ring.used(1), (UsedElem{4, 0}));
    EXPECT_EQ(rig.tx.counters().refused, 1u);
    EXPECT_EQ(rig.tx.counters().last_error, RingError::kChecksumRange);
    EXPECT_EQ(rig.pool.outstanding(), 0u);
  }
}

// An XDP program comes or goes, the send buffer is limited: the next run sees it.
TEST(NetTxAlone, a_changed_socket_is_seen_by_the_next_run) {
  TxRig rig(16, {.batch = 8});
  rig.offer(0, kPacket, kShort);
  rig.tx.step();
  rig.tx.change_socket({.batches = false, .headroom = false});
  rig.offer(1, kPacket, kShort);
  EXPECT_EQ(rig.run(), Turn::kEmpty);
  EXPECT_EQ(rig.sink.batches, std::vector<std::size_t>{2});  // the run under way
  rig.offer(2, kPacket, kShort);
  rig.run();
  EXPECT_EQ(rig.tx.counters().alone, 1u);
  rig.tx.change_socket({.batches = true, .headroom = false});
  rig.offer(3, kPacket, kShort);
  rig.run();
  EXPECT_EQ(rig.sink.batches, (std::vector<std::size_t>{2, 1, 1}));
  EXPECT_EQ(rig.tx.counters().packets, 4u);
  EXPECT_EQ(rig.pool.outstanding(), 0u);
}

}  // namespace
}  // namespace vringlab
