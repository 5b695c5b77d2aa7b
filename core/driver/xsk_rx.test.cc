#include "core/driver/xsk_rx.h"

#include <gtest/gtest.h>

#include "tests/double/xsk_rig.h"

namespace vringlab {
namespace {

using test::XskRig;

constexpr std::uint32_t kChunk = XskRig::kChunk;

struct Rig : XskRig {
  XskRx<Ring, test::CountingDma> xsk;

  explicit Rig(std::uint32_t size = 8, std::uint32_t app_size = 8)
      : XskRig(size, 0, app_size), xsk(make_rx(size)) {}
  ~Rig() {
    while (const auto token = ring.detach_unused()) xsk.recycle(*token);
    umem.unmap();
    EXPECT_EQ(dma.mapped(), 0u);
    EXPECT_EQ(dma.fault(), "");
  }
  void give(std::uint64_t addr) { EXPECT_TRUE(app.fill.offer(addr)); }
  // Chunks for `count` buffers.
  void start(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) give(i * kChunk);
    EXPECT_EQ(xsk.step().refilled, count);
  }
};

TEST(XskRx, a_frame_behind_the_headroom) {
  Rig rig;
  rig.give(3 * kChunk + 77);  // anywhere in its chunk
  XskRxStep step = rig.xsk.step();
  EXPECT_EQ(step.refilled, 1u);
  EXPECT_TRUE(step.kick);
  EXPECT_EQ(rig.app.fill.consumer, 1u);
  EXPECT_EQ(rig.queue.desc(0).flags, kDescWrite);
  EXPECT_EQ(rig.queue.desc(0).len, kChunk - 256 + 12);
  ASSERT_TRUE(rig.write_frame(60, std::byte{5}));
  step = rig.xsk.step();
  EXPECT_EQ(step.received, 1u);
  const XdpDesc desc = rig.app.rx.collect();
  EXPECT_EQ(desc, (XdpDesc{3 * kChunk + 256, 60, 0}));
  EXPECT_EQ(rig.guest.byte(XskRig::kUmem + desc.addr), std::byte{5});
  EXPECT_EQ(rig.guest.byte(XskRig::kUmem + desc.addr + 59), std::byte{5});
}

TEST(XskRx, the_longest_frame_ends_with_its_chunk) {
  Rig rig;
  rig.start(2);
  ASSERT_FALSE(rig.write_frame(kChunk - 256 + 1, std::byte{1}));
  ASSERT_TRUE(rig.write_frame(kChunk - 256, std::byte{1}));
  EXPECT_EQ(rig.xsk.step().received, 1u);
}

TEST(XskRx, hostile_fill_entries_are_skipped) {
  Rig rig;
  rig.give(kChunk * XskRig::kChunks);
  rig.give(UINT64_MAX);
  rig.give(kChunk);
  const XskRxStep step = rig.xsk.step();
  EXPECT_EQ(step.invalid, 2u);
  EXPECT_EQ(step.refilled, 1u);
}

TEST(XskRx, too_short_is_dropped_and_its_chunk_used_again) {
  for (const std::uint32_t bytes : {0u, 13u}) {
    Rig rig;
    rig.start(1);
    ASSERT_TRUE(rig.write_frame(bytes, std::byte{1}));
    const XskRxStep step = rig.xsk.step();
    EXPECT_EQ(step.dropped, 1u);
    EXPECT_EQ(step.refilled, 1u);
    EXPECT_EQ(rig.app.rx.filled(), 0u);
    ASSERT_TRUE(rig.write_frame(14, std::byte{1}));
    EXPECT_EQ(rig.xsk.step().received, 1u);
  }
}

TEST(XskRx, a_length_shorter_than_the_header) {
  Rig rig;
  rig.start(1);
  rig.queue.complete(rig.take_head(), 11);
  EXPECT_EQ(rig.xsk.step().dropped, 1u);
}

TEST(XskRx, a_frame_of_three_buffers_is_dropped_whole) {
  Rig rig;
  rig.start(5);
  rig.write_frame(100, std::byte{1}, 3);
  rig.write_frame(100, std::byte{1}, 1);
  rig.write_frame(100, std::byte{1}, 1);
  rig.write_frame(101, std::byte{1}, 1);
  const XskRxStep step = rig.xsk.step();
  EXPECT_EQ(step.dropped, 3u);
  EXPECT_EQ(step.received, 1u);
  EXPECT_EQ(rig.app.rx.collect().len, 101u);
}

TEST(XskRx, no_room_on_the_rx_ring_drops) {
  Rig rig(8, 2);
  for (int turn = 0; turn < 2; ++turn) {
    rig.give(0);
    rig.give(kChunk);
    rig.xsk.step();
  }
  for (int i = 0; i < 3; ++i) rig.write_frame(60, std::byte{1});
  XskRxStep step = rig.xsk.step();
  EXPECT_EQ(step.received, 2u);
  EXPECT_EQ(step.dropped, 1u);
  EXPECT_EQ(step.refilled, 1u);
  rig.app.rx.collect();
  rig.write_frame(60, std::byte{1});
  EXPECT_EQ(rig.xsk.step().received, 1u);
}

TEST(XskRx, the_budget_bounds_a_step) {
  Rig rig;
  rig.start(8);
  for (int i = 0; i < 5; ++i) rig.write_frame(60, std::byte{1});
  XskRxStep step = rig.xsk.step(3);
  EXPECT_EQ(step.received, 3u);
  EXPECT_TRUE(step.more);
  step = rig.xsk.step(3);
  EXPECT_EQ(step.received, 2u);
  EXPECT_FALSE(step.more);
  for (std::uint64_t i = 0; i < 5; ++i) rig.give(UINT64_MAX);
  EXPECT_EQ(rig.xsk.step(3).invalid, 3u);
}

TEST(XskRx, takes_no_more_chunks_than_there_are_free_descriptors) {
  Rig rig(4);
  for (std::uint64_t i = 0; i < 8; ++i) rig.give(i * kChunk);
  EXPECT_EQ(rig.xsk.step().refilled, 4u);
  EXPECT_EQ(rig.app.fill.consumer, 4u);
}

TEST(XskRx, d06_what_a_reset_gives_back_is_used_first) {
  Rig rig(4);
  for (std::uint64_t i = 0; i < 8; ++i) rig.give(i * kChunk);
  rig.xsk.step();
  rig.write_frame(60, std::byte{1}, 4);  // three parts to drop, of another life
  rig.xsk.step();
  while (const auto token = rig.ring.detach_unused()) rig.xsk.recycle(*token);
  rig.ring.reset();
  rig.xsk.restart();
  rig.next = 0;
  EXPECT_EQ(rig.xsk.spare(), 4u);
  EXPECT_EQ(rig.xsk.step().refilled, 4u);
  EXPECT_EQ(rig.app.fill.consumer, 4u);
  rig.write_frame(60, std::byte{1});
  EXPECT_EQ(rig.xsk.step().received, 1u);
}

TEST(XskRx, hostile_indices_cost_the_socket_only) {
  Rig rig;
  rig.start(2);
  rig.app.fill.producer = 1000;
  rig.xsk.step();
  EXPECT_EQ(rig.xsk.broken(), RingError::kXskIndex);
  rig.write_frame(60, std::byte{1});
  EXPECT_EQ(rig.xsk.step().received, 1u);
  Rig other(8, 1);
  other.start(1);
  other.give(kChunk);
  other.xsk.step();
  other.write_frame(60, std::byte{1});
  other.xsk.step();
  other.app.rx.consumer = 5;
  other.write_frame(60, std::byte{1});
  EXPECT_EQ(other.xsk.step().dropped, 1u);
  EXPECT_EQ(other.xsk.broken(), RingError::kXskIndex);
  EXPECT_EQ(other.ring.state().broken, RingError::kNone);
}

}  // namespace
}  // namespace vringlab
