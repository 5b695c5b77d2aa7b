#include "core/driver/queue_reset.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "tests/double/resizable_queue.h"

namespace vringlab {
namespace {

using test::kEventIdx;
using test::kIndirect;
using test::kPlatform;
using test::kRingReset;
using test::ResizableQueue;

constexpr std::array kBuffers = {Buffer{{0x8000}, 10}, Buffer{{0x9010}, 20}, Buffer{{0xa020}, 30}};

struct Queue : ResizableQueue {
  std::set<Token> out;  // with the driver
  Token next = 1;

  using ResizableQueue::ResizableQueue;
  ~Queue() { EXPECT_EQ(dma.fault(), ""); }

  bool add(std::size_t readable, std::size_t writable) {
    const std::span all(kBuffers);
    if (!driver.add(all.first(readable), all.first(writable), next).ok()) return false;
    out.insert(next++);
    return true;
  }
  void publish() {
    driver.publish();
    device.fetch();
  }
  void reap() {
    while (const auto done = driver.reap()) back(done->token);
    EXPECT_EQ(driver.state().broken, RingError::kNone);
  }
  void back(Token token) { EXPECT_EQ(out.erase(token), 1u) << token; }
  auto recycle() {
    return [this](Token token) { back(token); };
  }
  RingError reset() { return reset_queue(driver, device, recycle()); }
  RingError resize(std::uint32_t size) {
    return resize_queue(driver, device, memory, size, recycle());
  }
  void expect_works() {
    ASSERT_TRUE(add(1, 2));
    publish();
    ASSERT_GT(device.held(), 0u);
    while (device.held() > 0) device.complete(0, 0);
    reap();
    EXPECT_TRUE(out.empty());
    EXPECT_EQ(driver.state().free_count, driver.state().size);
    EXPECT_EQ(dma.mapped(), 0u);
  }
};

TEST(QueueReset, d05_starts_at_zero_and_gives_each_token_back_once) {
  for (const std::uint64_t more : {std::uint64_t{0}, kIndirect, kEventIdx}) {
    Queue q(8, kPlatform | kRingReset | more);
    for (int i = 0; i < 17; ++i) q.expect_works();
    q.add(1, 0);
    q.add(1, 2);
    q.publish();
    q.add(2, 0);  // never published
    EXPECT_EQ(q.reset(), RingError::kNone);
    EXPECT_TRUE(q.out.empty());
    EXPECT_EQ(q.dma.mapped(), 0u);
    EXPECT_EQ(q.driver.state().next_avail, 0);
    enable_queue(q.driver, q.device);
    EXPECT_EQ(q.device.ring()->avail_idx(), 0);
    EXPECT_EQ(q.device.ring()->used_idx(), 0);
    q.expect_works();
  }
}

TEST(QueueReset, d05_what_was_in_flight_is_out_of_reach) {
  for (const std::uint64_t more : {std::uint64_t{0}, kIndirect}) {
    Queue q(8, kPlatform | kRingReset | more);
    q.add(0, 1);
    q.publish();
    const Desc old = q.device.ring()->desc(0);
    ASSERT_TRUE(q.dma.guest({old.addr}, old.len, true).ok());
    EXPECT_EQ(q.reset(), RingError::kNone);
    EXPECT_FALSE(q.dma.guest({old.addr}, 1, true).ok());
    enable_queue(q.driver, q.device);
    q.add(0, 1);  // the same buffer, and not by its old address
    EXPECT_FALSE(q.dma.guest({old.addr}, 1, true).ok());
  }
}

TEST(QueueReset, nothing_is_added_until_it_is_enabled) {
  Queue q(8);
  EXPECT_EQ(q.reset(), RingError::kNone);
  EXPECT_FALSE(q.device.ring());
  EXPECT_FALSE(q.add(1, 0));
  EXPECT_FALSE(q.driver.reap());
  EXPECT_FALSE(q.driver.enable_callback());
  EXPECT_EQ(q.driver.state().broken, RingError::kQueueDisabled);
  enable_queue(q.driver, q.device);
  q.expect_works();
}

TEST(QueueReset, needs_the_feature) {
  Queue q(8, kPlatform);
  q.add(1, 0);
  EXPECT_EQ(q.reset(), RingError::kResetNotNegotiated);
  EXPECT_EQ(q.resize(16), RingError::kResetNotNegotiated);
  EXPECT_EQ(q.device.resets, 0);
  EXPECT_EQ(q.out.size(), 1u);
  q.expect_works();
}

TEST(QueueReset, a_device_that_does_not_let_go_keeps_its_buffers) {
  Queue q(8);
  q.add(1, 0);
  q.device.refuses = true;
  EXPECT_EQ(q.reset(), RingError::kResetRefused);
  EXPECT_EQ(q.resize(16), RingError::kResetRefused);
  EXPECT_EQ(q.memory.taken(), 1);
  EXPECT_EQ(q.dma.mapped(), 1u);
  EXPECT_EQ(q.driver.state().size, 8);
  q.expect_works();
}

TEST(QueueReset, heals_a_broken_queue) {
  Queue q(8);
  q.add(1, 2);
  q.publish();
  q.device.complete(0, 31);
  EXPECT_FALSE(q.driver.reap());
  EXPECT_EQ(q.driver.state().broken, RingError::kUsedLength);
  EXPECT_EQ(q.reset(), RingError::kNone);
  enable_queue(q.driver, q.device);
  q.expect_works();
}

TEST(QueueReset, one_of_two_queues) {
  Queue a(8);
  Queue b(8);
  for (Queue* q : {&a, &b}) {
    q->add(1, 0);
    q->publish();
  }
  EXPECT_EQ(a.reset(), RingError::kNone);
  EXPECT_EQ(b.out.size(), 1u);
  EXPECT_EQ(b.dma.mapped(), 1u);
  b.expect_works();
}

TEST(QueueReset, enabling_does_not_heal_a_broken_queue) {
  Queue q(8);
  q.device.ring()->used_idx() = 3;
  EXPECT_FALSE(q.driver.reap());
  q.driver.enable();
  EXPECT_EQ(q.driver.state().broken, RingError::kUsedIndexAhead);
}

TEST(QueueResize, d07_sizes_that_are_none) {
  Queue q(8);
  q.add(1, 0);
  for (const std::uint32_t size : {0u, 3u, 100u, 65536u, 65535u})
    EXPECT_EQ(q.resize(size), RingError::kQueueSize) << size;
  EXPECT_EQ(q.device.resets, 0);
  EXPECT_EQ(q.out.size(), 1u);
}

TEST(QueueResize, without_memory_the_old_ring_keeps_working) {
  Queue q(8);
  q.add(1, 0);
  q.publish();
  q.memory.fails = true;
  EXPECT_EQ(q.resize(16), RingError::kNoRingMemory);
  EXPECT_EQ(q.device.resets, 0);
  EXPECT_EQ(q.out.size(), 1u);
  EXPECT_EQ(q.driver.state().size, 8);
  q.expect_works();
}

TEST(QueueResize, to_the_same_size_does_nothing) {
  Queue q(8);
  q.add(1, 0);
  EXPECT_EQ(q.resize(8), RingError::kNone);
  EXPECT_EQ(q.device.resets, 0);
  EXPECT_EQ(q.out.size(), 1u);
}

TEST(QueueResize, premapped_stays_premapped) {
  Queue q(8, kPlatform | kRingReset | kIndirect);
  ASSERT_EQ(q.driver.set_premapped(), RingError::kNone);
  q.add(1, 2);
  EXPECT_EQ(q.dma.mapped(), 1u);  // its table
  EXPECT_EQ(q.resize(16), RingError::kNone);
  EXPECT_TRUE(q.driver.state().premapped);
  EXPECT_EQ(q.dma.mapped(), 0u);
  EXPECT_EQ(q.add(2, 0), true);
  EXPECT_EQ(q.dma.mapped(), 1u);
  q.expect_works();
}

TEST(QueueResize, to_more_than_before_has_room_for_more) {
  Queue q(8);
  EXPECT_EQ(q.resize(16), RingError::kNone);
  for (int i = 0; i < 16; ++i) EXPECT_TRUE(q.add(1, 0));
  EXPECT_FALSE(q.add(1, 0));
  EXPECT_EQ(q.resize(4), RingError::kNone);
  EXPECT_TRUE(q.out.empty());
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(q.add(1, 0));
  EXPECT_FALSE(q.add(1, 0));
}

// Chains of each kind, some completed, some held, some not yet published when it comes to it.
void traffic(Queue& q, int turn) {
  for (int i = 0; i < 6; ++i) q.add(1, static_cast<std::size_t>(turn + i) % 4);
  q.publish();
  for (int i = 0; i < turn % 6; ++i) q.device.complete(static_cast<std::size_t>(turn + i), 0);
  if (turn % 3 != 0) q.reap();
  q.add(2, 1);
}

TEST(QueueResize, d02_128_and_256_in_a_loop_with_buffers_in_flight) {
  for (const std::uint64_t more : {std::uint64_t{0}, kIndirect}) {
    Queue q(128, kPlatform | kRingReset | more);
    for (int turn = 0; turn < 10000; ++turn) {
      traffic(q, turn);
      ASSERT_EQ(q.resize(turn % 2 == 0 ? 256 : 128), RingError::kNone);
      ASSERT_TRUE(q.out.empty());
      ASSERT_EQ(q.dma.mapped(), 0u);
      ASSERT_EQ(q.dma.mapped_bytes(), 0u);
      ASSERT_EQ(q.memory.taken(), 1);
      ASSERT_EQ(q.driver.state().free_count, q.driver.state().size);
    }
    EXPECT_EQ(q.device.resets, 10000);
    q.expect_works();
  }
}

}  // namespace
}  // namespace vringlab
