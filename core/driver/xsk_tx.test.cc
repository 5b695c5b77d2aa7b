#include "core/driver/xsk_tx.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/double/xsk_rig.h"

namespace vringlab {
namespace {

using test::kIndirect;
using test::XskRig;

constexpr std::uint32_t kChunk = XskRig::kChunk;

struct Rig : XskRig {
  XskTx<Ring, test::CountingDma> xsk;

  explicit Rig(XskHeader header = XskHeader::kShared, std::uint32_t size = 16,
               std::uint64_t features = 0, std::uint32_t app_size = 8)
      : XskRig(size, features, app_size), xsk(make_tx(header)) {
    EXPECT_EQ(xsk.start(), RingError::kNone);
  }
  ~Rig() {
    while (const auto token = ring.detach_unused()) xsk.recycle(*token);
    EXPECT_EQ(xsk.state().in_flight, 0u);
    xsk.stop();
    umem.unmap();
    EXPECT_EQ(dma.mapped(), 0u);
    EXPECT_EQ(dma.fault(), "");
  }
  void offer(std::uint64_t addr, std::uint32_t len, std::uint32_t options = 0) {
    EXPECT_TRUE(app.tx.offer({addr, len, options}));
  }
  void complete(int count) {
    for (; count > 0; --count) queue.complete(take_head(), 0);
  }
  std::set<std::uint64_t> completions() {
    std::set<std::uint64_t> addrs;
    while (app.completion.filled() > 0) EXPECT_TRUE(addrs.insert(app.completion.collect()).second);
    return addrs;
  }
};

TEST(XskTx, a_frame_behind_a_header_of_zeros) {
  for (const std::uint64_t features : {std::uint64_t{0}, kIndirect}) {
    for (const XskHeader header : {XskHeader::kShared, XskHeader::kHeadroom}) {
      Rig rig(header, 16, features);
      rig.guest.fill(XskRig::kUmem, 2 * kChunk);
      const std::uint64_t addr = kChunk + 256;
      rig.offer(addr, 60);
      const XskTxStep step = rig.xsk.step();
      EXPECT_EQ(step.sent, 1u);
      EXPECT_TRUE(step.kick);
      EXPECT_FALSE(step.more);
      EXPECT_EQ(rig.app.tx.consumer, 1u);
      const auto bytes = rig.read_chain(rig.take_head());
      ASSERT_EQ(bytes.size(), 12u + 60);
      for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(bytes[i], std::byte{0});
      EXPECT_EQ(bytes[12], rig.guest.byte(XskRig::kUmem + addr));
      EXPECT_EQ(bytes.back(), rig.guest.byte(XskRig::kUmem + addr + 59));
      const bool one = header == XskHeader::kHeadroom || features != 0;
      EXPECT_EQ(rig.ring.state().free_count, one ? 15 : 14);
      rig.queue.complete(0, 0);
      EXPECT_EQ(rig.xsk.step().completed, 1u);
      EXPECT_EQ(rig.completions(), (std::set<std::uint64_t>{addr}));
    }
  }
}

TEST(XskTx, a_frame_without_room_in_front_gets_the_shared_header) {
  for (const std::uint32_t offset : {0u, 11u, 12u}) {
    Rig rig(XskHeader::kHeadroom);
    rig.guest.fill(XskRig::kUmem, 3 * kChunk);
    const std::byte before = rig.guest.byte(XskRig::kUmem + kChunk - 1);
    rig.offer(kChunk + offset, 60);
    EXPECT_EQ(rig.xsk.step().sent, 1u);
    EXPECT_EQ(rig.ring.state().free_count, offset < 12 ? 14 : 15);
    EXPECT_EQ(rig.read_chain(rig.take_head()).size(), 72u);
    EXPECT_EQ(rig.guest.byte(XskRig::kUmem + kChunk - 1), before);
    rig.queue.complete(0, 0);
    rig.xsk.step();
  }
}

TEST(XskTx, hostile_descriptors_are_skipped_and_count_in_the_budget) {
  Rig rig;
  rig.offer(kChunk * XskRig::kChunks, 60);
  rig.offer(0, kChunk + 1);
  rig.offer(UINT64_MAX, 60);
  rig.offer(0, 60, 1);
  rig.offer(kChunk, 60);
  XskTxStep step = rig.xsk.step(3);
  EXPECT_EQ(step.invalid, 3u);
  EXPECT_EQ(step.sent, 0u);
  EXPECT_TRUE(step.more);
  step = rig.xsk.step(3);
  EXPECT_EQ(step.invalid, 1u);
  EXPECT_EQ(step.sent, 1u);
  rig.complete(1);
  rig.xsk.step();
  EXPECT_EQ(rig.completions(), (std::set<std::uint64_t>{kChunk}));
}

TEST(XskTx, the_budget_bounds_a_step) {
  Rig rig(XskHeader::kShared, 128, 0, 128);
  for (int i = 0; i < 70; ++i) rig.offer(kChunk * (static_cast<unsigned>(i) % 16), 60);
  const XskTxStep step = rig.xsk.step();
  EXPECT_EQ(step.sent, 64u);  // by its budget: the ring would have no room for a 65th either
  EXPECT_TRUE(step.more);
  Rig wide(XskHeader::kHeadroom, 128, 0, 128);
  for (int i = 0; i < 70; ++i) wide.offer(kChunk * (static_cast<unsigned>(i) % 16) + 64, 60);
  EXPECT_EQ(wide.xsk.step().sent, 64u);
  EXPECT_EQ(wide.xsk.step().sent, 6u);
}

TEST(XskTx, takes_no_more_than_the_ring_has_room_for) {
  Rig rig(XskHeader::kShared, 4);
  for (std::uint64_t i = 0; i < 3; ++i) rig.offer(i * kChunk, 60);
  EXPECT_EQ(rig.xsk.step().sent, 2u);
  EXPECT_EQ(rig.app.tx.consumer, 2u);
  rig.complete(1);
  const XskTxStep step = rig.xsk.step();
  EXPECT_EQ(step.completed, 1u);
  EXPECT_EQ(step.sent, 1u);
}

// Each frame at the device has room on the completion ring.
TEST(XskTx, an_application_that_collects_nothing_stops_itself) {
  Rig rig(XskHeader::kShared, 64, 0, 4);
  for (int turn = 0; turn < 3; ++turn) {
    while (rig.app.tx.offer({0, 60, 0})) {
    }
    rig.xsk.step();
    while (rig.offered()) rig.complete(1);
  }
  rig.xsk.step();
  EXPECT_EQ(rig.app.completion.filled(), 4u);
  EXPECT_EQ(rig.xsk.state().in_flight, 0u);
  rig.app.completion.collect();
  EXPECT_EQ(rig.xsk.step().sent, 1u);
}

TEST(XskTx, a_table_that_cannot_be_mapped_makes_the_frame_wait) {
  Rig rig(XskHeader::kShared, 16, kIndirect);
  rig.offer(0, 60);
  rig.offer(kChunk, 61);
  rig.dma.fail_after(0);
  EXPECT_EQ(rig.xsk.step().sent, 0u);
  EXPECT_EQ(rig.app.tx.consumer, 1u);
  EXPECT_EQ(rig.xsk.step().sent, 2u);
  EXPECT_EQ(rig.read_chain(rig.take_head()).size(), 72u);
  EXPECT_EQ(rig.read_chain(rig.take_head()).size(), 73u);
}

TEST(XskTx, a_frame_that_waits_comes_back_in_the_end) {
  Rig rig(XskHeader::kShared, 16, kIndirect);
  rig.offer(kChunk, 60);
  rig.dma.fail_after(0);
  rig.xsk.step();
  rig.xsk.stop();
  EXPECT_EQ(rig.completions(), (std::set<std::uint64_t>{kChunk}));
}

TEST(XskTx, d06_a_reset_gives_every_frame_back_once) {
  Rig rig;
  for (std::uint64_t i = 0; i < 5; ++i) rig.offer(i * kChunk, 60);
  rig.xsk.step();
  rig.complete(2);
  rig.xsk.step();
  while (const auto token = rig.ring.detach_unused()) rig.xsk.recycle(*token);
  EXPECT_EQ(rig.completions().size(), 5u);
  EXPECT_EQ(rig.xsk.state().in_flight, 0u);
}

TEST(XskTx, hostile_completion_index_costs_the_socket_only) {
  Rig rig;
  rig.offer(0, 60);
  rig.offer(kChunk, 60);
  rig.xsk.step();
  rig.app.completion.consumer = 7;
  for (int i = 0; i < 8; ++i) rig.app.tx.offer({0, 60, 0});
  rig.complete(2);
  rig.xsk.step();
  rig.xsk.step();
  EXPECT_EQ(rig.xsk.broken(), RingError::kXskIndex);
  EXPECT_EQ(rig.ring.state().broken, RingError::kNone);
}

TEST(XskTx, hostile_tx_index_costs_the_socket_only) {
  Rig rig;
  rig.offer(0, 60);
  EXPECT_EQ(rig.xsk.step().sent, 1u);
  rig.app.tx.producer = 100;
  EXPECT_EQ(rig.xsk.step().sent, 0u);
  EXPECT_EQ(rig.xsk.broken(), RingError::kXskIndex);
  rig.complete(1);
  EXPECT_EQ(rig.xsk.step().completed, 1u);
}

TEST(XskTx, a_broken_queue_takes_nothing) {
  Rig rig;
  rig.offer(0, 60);
  rig.queue.used_idx() = 5;
  rig.xsk.step();
  rig.offer(0, 60);
  EXPECT_EQ(rig.xsk.step().sent, 0u);
  EXPECT_EQ(rig.app.tx.consumer, 0u);
}

}  // namespace
}  // namespace vringlab
