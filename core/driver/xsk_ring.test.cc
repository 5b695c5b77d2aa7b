#include "core/driver/xsk_ring.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/double/xsk_app.h"

namespace vringlab {
namespace {

using test::XskRing;

TEST(XskConsumer, takes_what_is_there_and_gives_room_back_by_publish) {
  XskRing<std::uint64_t> ring(4);
  XskConsumer<std::uint64_t> consumer(ring.areas());
  EXPECT_FALSE(consumer.take());
  for (std::uint64_t i = 10; i < 14; ++i) EXPECT_TRUE(ring.offer(i));
  EXPECT_EQ(consumer.take(), 10u);
  EXPECT_EQ(consumer.take(), 11u);
  EXPECT_FALSE(ring.offer(14));
  consumer.publish();
  EXPECT_EQ(ring.consumer, 2u);
  EXPECT_TRUE(ring.offer(14));
  for (std::uint64_t i = 12; i < 15; ++i) EXPECT_EQ(consumer.take(), i);
  EXPECT_FALSE(consumer.take());
}

TEST(XskConsumer, hostile_index_that_cannot_be_true) {
  // One published and two taken of three: from 3 to 5 is possible.
  for (const std::uint32_t index : {3u, 4u, 5u, 6u, 2u, 0u, 0x80000000u, UINT32_MAX}) {
    XskRing<std::uint64_t> ring(4);
    XskConsumer<std::uint64_t> consumer(ring.areas());
    for (std::uint64_t i = 0; i < 3; ++i) ring.offer(i);
    consumer.take();
    consumer.publish();
    consumer.take();
    consumer.take();
    ring.producer = index;
    EXPECT_EQ(consumer.take().has_value(), index == 4 || index == 5) << index;
    const bool good = index >= 3 && index <= 5;
    EXPECT_EQ(consumer.state().broken, good ? RingError::kNone : RingError::kXskIndex) << index;
    if (good) continue;
    ring.producer = 5;
    EXPECT_FALSE(consumer.take());
  }
}

TEST(XskProducer, has_room_until_full_and_again) {
  XskRing<XdpDesc> ring(4);
  XskProducer<XdpDesc> producer(ring.areas());
  EXPECT_TRUE(producer.has_room(4));
  EXPECT_FALSE(producer.has_room(5));
  for (std::uint64_t i = 0; i < 4; ++i) producer.put({i, 1, 0});
  EXPECT_EQ(ring.filled(), 0u);
  producer.publish();
  EXPECT_EQ(ring.filled(), 4u);
  EXPECT_FALSE(producer.has_room(1));
  EXPECT_EQ(ring.collect(), (XdpDesc{0, 1, 0}));
  EXPECT_TRUE(producer.has_room(1));
  EXPECT_FALSE(producer.has_room(2));
}

TEST(XskProducer, hostile_index_that_cannot_be_true) {
  // Four published and one collected: from 1 to 4 is possible.
  for (const std::uint32_t index : {1u, 4u, 0u, 5u, 0x80000000u, UINT32_MAX}) {
    XskRing<std::uint64_t> ring(4);
    XskProducer<std::uint64_t> producer(ring.areas());
    for (std::uint64_t i = 0; i < 4; ++i) producer.put(i);
    producer.publish();
    ring.collect();
    EXPECT_TRUE(producer.has_room(1));
    ring.consumer = index;
    const bool good = index >= 1 && index <= 4;
    EXPECT_EQ(producer.has_room(4), index == 4) << index;
    EXPECT_EQ(producer.state().broken, good ? RingError::kNone : RingError::kXskIndex) << index;
    if (good) continue;
    ring.consumer = 4;
    EXPECT_FALSE(producer.has_room(1));
  }
}

TEST(XskProducer, hostile_index_of_what_is_not_yet_published) {
  XskRing<std::uint64_t> ring(4);
  XskProducer<std::uint64_t> producer(ring.areas());
  for (std::uint64_t i = 0; i < 4; ++i) producer.put(i);
  ring.consumer = 1;
  EXPECT_FALSE(producer.has_room(1));
  EXPECT_EQ(producer.state().broken, RingError::kXskIndex);
}

TEST(XskRings, both_indices_wrap) {
  XskRing<std::uint64_t> ring(2, UINT32_MAX - 10);
  XskConsumer<std::uint64_t> consumer(ring.areas(), UINT32_MAX - 10);
  XskProducer<std::uint64_t> producer(ring.areas(), UINT32_MAX - 10);
  for (std::uint64_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(producer.has_room(1));
    producer.put(i);
    producer.publish();
    ASSERT_EQ(consumer.take(), i);
    consumer.publish();
  }
}

TEST(XskRings, two_threads_lose_and_repeat_nothing) {
  constexpr std::uint64_t kEntries = 100000;
  XskRing<XdpDesc> ring(64);
  std::thread sender([&] {
    XskProducer<XdpDesc> producer(ring.areas());
    for (std::uint64_t i = 0; i < kEntries;) {
      if (!producer.has_room(1)) {
        std::this_thread::yield();
        continue;
      }
      producer.put({i, static_cast<std::uint32_t>(i), 0});
      if (++i % 3 == 0 || i == kEntries) producer.publish();
      if (!producer.has_room(1)) producer.publish();
    }
  });
  XskConsumer<XdpDesc> consumer(ring.areas());
  bool in_order = true;
  for (std::uint64_t i = 0; i < kEntries;) {
    const auto entry = consumer.take();
    consumer.publish();
    if (!entry) {
      std::this_thread::yield();
      continue;
    }
    in_order = in_order && *entry == XdpDesc{i, static_cast<std::uint32_t>(i), 0};
    ++i;
  }
  sender.join();
  EXPECT_TRUE(in_order);
}

}  // namespace
}  // namespace vringlab
