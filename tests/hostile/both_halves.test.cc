// Both halves of a virtqueue on one piece of guest memory, one thread: what a
// driver adds is what a device sees, and comes back.
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <set>

#include "core/device/queue_set.h"
#include "core/driver/driver_ring.h"
#include "core/memory/direct_access.h"
#include "core/ring/device_ring.h"
#include "tests/double/raw_guest.h"

namespace vringlab {
namespace {

using test::kEventIdx;
using test::kIndirect;
using test::RawGuest;
using test::RawRing;

constexpr std::uint64_t kTables = 0x40000;
constexpr std::uint64_t kData = 0x80000;

struct Halves {
  RawGuest guest{{{0, 0x100000}}};
  RawRing ring;
  DriverRing<DirectDriverAccess> driver;
  DeviceRing<DirectAccess, DirectPayload> device;
  std::vector<Piece> room;
  Chain chain;

  explicit Halves(std::uint32_t size, std::uint64_t features = 0)
      : ring(guest, size, features),
        driver(DirectDriverAccess(ring.areas), ring.config,
               {{kTables}, reinterpret_cast<Desc*>(&guest.byte(kTables)), 4}),
        device(DirectAccess(ring.areas), DirectPayload(guest.memory()), ring.config),
        room(size) {
    chain.room = room;
  }

  // Sets both indices of an empty ring, in memory and in both halves.
  void start(std::uint16_t idx) {
    ring.used_idx() = idx;
    driver.start(idx);
    device.start(idx);
  }
  std::uint16_t add(Token token) {
    const Buffer buffer{{kData}, 64};
    const auto head = driver.add({&buffer, 1}, {}, token);
    EXPECT_TRUE(head.ok()) << describe(head.error());
    driver.publish();
    return head.value();
  }
  Fetch fetch() {
    RingError error = RingError::kNone;
    const Fetch result = device.next_chain(chain, error);
    EXPECT_EQ(error, RingError::kNone) << describe(error);
    return result;
  }
  void complete(std::uint16_t head, std::uint32_t len = 0) {
    device.push_used(head, len);
    device.flush_used();
  }
};

// Each property holds for every combination of features.
class EndToEnd : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Features, EndToEnd,
                         testing::Values(0, kEventIdx, kIndirect, kEventIdx | kIndirect));

TEST_P(EndToEnd, buffers_arrive_as_they_were_added) {
  Halves h(8, GetParam());
  const std::array readable = {Buffer{{kData}, 12}, Buffer{{kData + 0x100}, 60}};
  const std::array writable = {Buffer{{kData + 0x200}, 512}, Buffer{{kData + 0x500}, 1}};
  ASSERT_TRUE(h.driver.add(readable, writable, 42).ok());
  h.driver.publish();
  ASSERT_EQ(h.fetch(), Fetch::kHead);
  ASSERT_EQ(h.chain.readable().size(), 2u);
  EXPECT_EQ(h.chain.readable()[0].host, &h.guest.byte(kData));
  EXPECT_EQ(h.chain.readable()[1].len, 60u);
  ASSERT_EQ(h.chain.writable().size(), 2u);
  EXPECT_EQ(h.chain.writable()[1].host, &h.guest.byte(kData + 0x500));
  EXPECT_EQ(h.chain.writable_bytes, 513u);
  h.complete(h.chain.head, 513);  // i7: a read of a sector and its status
  const auto completion = h.driver.reap();
  ASSERT_TRUE(completion);
  EXPECT_EQ(completion->token, 42u);
  EXPECT_EQ(completion->written_bytes, 513u);
  EXPECT_EQ(h.driver.state().free_count, 8);
}

// Chains of one to four buffers, in lots, completed out of order, for longer than an index has
// values: every token comes back once, and no descriptor is lost.
TEST_P(EndToEnd, i05_70000_requests_from_65535) {
  for (const std::uint32_t size : {4u, 8u, 256u}) {
    Halves h(size, GetParam());
    h.start(65535);
    const std::array buffers = {Buffer{{kData}, 12}, Buffer{{kData + 0x100}, 60},
                                Buffer{{kData + 0x200}, 7}, Buffer{{kData + 0x300}, 1}};
    std::deque<Token> expected;
    Token next = 0;
    while (next < 70000) {
      for (std::size_t i = 0; i <= next % size; ++i) {
        const std::size_t count = 1 + (next + i) % 4;
        if (!h.driver.add(std::span(buffers).first(count), {}, next).ok()) break;
        ++next;
      }
      h.driver.publish();
      std::vector<std::pair<std::uint16_t, std::uint16_t>> heads;
      while (h.fetch() == Fetch::kHead) heads.emplace_back(h.chain.head, h.chain.descriptors);
      if (next % 3 == 0) std::swap(heads.front(), heads.back());
      for (const auto& [head, descriptors] : heads) h.device.push_used(head, 0);
      h.device.flush_used();
      std::set<Token> back;
      while (const auto completion = h.driver.reap())
        ASSERT_TRUE(back.insert(completion->token).second);
      ASSERT_EQ(back.size(), heads.size());
      ASSERT_EQ(*back.rbegin(), next - 1);
      ASSERT_EQ(*back.begin(), next - heads.size());
      ASSERT_EQ(h.driver.state().free_count, size);
    }
    EXPECT_EQ(h.ring.avail_idx(), static_cast<std::uint16_t>(65535 + next));
    EXPECT_EQ(h.ring.used_idx(), static_cast<std::uint16_t>(65535 + next));
    EXPECT_EQ(h.device.state().broken, RingError::kNone);
  }
}

TEST_P(EndToEnd, a_ring_of_one) {
  Halves h(1, GetParam());
  h.start(65535);
  for (Token token = 0; token < 5; ++token) {
    h.add(token);
    ASSERT_EQ(h.fetch(), Fetch::kHead);
    h.complete(h.chain.head);
    ASSERT_EQ(h.driver.reap()->token, token);
  }
}

TEST_P(EndToEnd, i06_completed_in_order_c_a_b) {
  Halves h(8, GetParam());
  const std::array heads = {h.add('A'), h.add('B'), h.add('C')};
  for (int i = 0; i < 3; ++i) h.fetch();
  for (const int i : {2, 0, 1}) h.device.push_used(heads[static_cast<std::size_t>(i)], 0);
  h.device.flush_used();
  for (const char token : {'C', 'A', 'B'})
    EXPECT_EQ(h.driver.reap()->token, static_cast<Token>(token));
}

// n1 has three steps that matter on one thread: the device publishes and decides whether to call,
// the driver enables calls and looks. In no order may the driver sleep on a completion that nobody
// calls for. What real memory does between them is explored in tests/order.
TEST_P(EndToEnd, n01_no_order_of_steps_loses_a_call) {
  for (const int enable_at : {0, 1, 2}) {
    Halves h(8, GetParam());
    h.add(0);
    h.add(1);
    h.fetch();
    h.complete(h.chain.head);
    h.device.should_call();  // the first is unconditional
    EXPECT_TRUE(h.driver.reap());
    h.driver.disable_callback();
    h.fetch();
    bool seen = false;
    if (enable_at == 0) seen = h.driver.enable_callback();
    h.complete(h.chain.head);
    if (enable_at == 1) seen = h.driver.enable_callback();
    const bool called = h.device.should_call();
    if (enable_at == 2) seen = h.driver.enable_callback();
    EXPECT_TRUE(seen || called) << enable_at;
    EXPECT_EQ(called, enable_at < 2);
    EXPECT_EQ(seen, enable_at > 0);
  }
}

// The mirror image: the driver publishes and decides, the device enables kicks and looks.
TEST_P(EndToEnd, n01_no_order_of_steps_loses_a_kick) {
  for (const int enable_at : {0, 1, 2}) {
    Halves h(8, GetParam());
    h.device.enable_notify();
    h.add(0);
    EXPECT_TRUE(h.driver.kick_needed());
    h.device.disable_notify();
    h.fetch();
    EXPECT_EQ(h.fetch(), Fetch::kEmpty);
    bool seen = false;
    if (enable_at == 0) seen = h.device.enable_notify();
    h.add(1);
    if (enable_at == 1) seen = h.device.enable_notify();
    const bool kicked = h.driver.kick_needed();
    if (enable_at == 2) seen = h.device.enable_notify();
    EXPECT_TRUE(seen || kicked) << enable_at;
    EXPECT_EQ(kicked, enable_at < 2);
    EXPECT_EQ(seen, enable_at > 0);
  }
}

TEST_P(EndToEnd, a_running_half_is_not_disturbed) {
  Halves h(8, GetParam());
  h.add(0);
  h.driver.kick_needed();
  h.device.disable_notify();
  h.driver.disable_callback();
  for (Token token = 1; token < 100; ++token) {
    h.fetch();
    h.add(token);
    EXPECT_FALSE(h.driver.kick_needed());
    h.complete(h.chain.head);
    const bool first = token == 1 && h.device.state().event_idx;
    EXPECT_EQ(h.device.should_call(), first);
    h.driver.reap();
  }
}

TEST_P(EndToEnd, a_delayed_call_comes_once_for_three_quarters) {
  Halves h(8, GetParam());
  h.add(100);
  h.fetch();
  h.complete(h.chain.head);
  h.device.should_call();
  h.driver.reap();
  for (Token token = 0; token < 8; ++token) h.add(token);
  EXPECT_FALSE(h.driver.enable_callback_delayed());
  int calls = 0;
  for (int i = 0; i < 8; ++i) {
    h.fetch();
    h.complete(h.chain.head);
    if (!h.device.should_call()) continue;
    EXPECT_TRUE(i == 6 || !h.device.state().event_idx) << i;
    ++calls;
  }
  EXPECT_EQ(calls, h.device.state().event_idx ? 1 : 8);  // flags cannot delay
}

// A packet needs three buffers, two are there: the device sleeps, and the third wakes it.
TEST_P(EndToEnd, n04_sleeps_until_avail_moves) {
  Halves h(8, GetParam());
  h.device.enable_notify();
  h.add(0);
  h.add(1);
  h.driver.kick_needed();
  h.device.disable_notify();
  h.fetch();
  h.fetch();
  EXPECT_EQ(h.fetch(), Fetch::kEmpty);
  h.device.discard(2);
  EXPECT_FALSE(h.device.enable_notify());
  h.add(2);
  EXPECT_TRUE(h.driver.kick_needed());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(h.fetch(), Fetch::kHead);
}

// What was published before anybody listened is found, with its kick lost.
TEST_P(EndToEnd, n05_kick_between_registration_and_enable) {
  Halves h(8, GetParam());
  QueueSet queues(1);
  h.add(0);
  if (h.driver.kick_needed()) queues.kick(0);
  queues.enable(0);
  int served = 0;
  while (queues.take_kick(0))
    while (h.fetch() == Fetch::kHead) ++served;
  EXPECT_EQ(served, 1);
}

TEST_P(EndToEnd, d05_reset_of_both_at_17) {
  Halves h(4, GetParam());
  for (Token token = 0; token < 17; ++token) {
    h.add(token);
    h.fetch();
    h.complete(h.chain.head);
    h.driver.reap();
  }
  h.add(17);
  h.add(18);
  h.fetch();
  h.device.push_used(h.chain.head, 0);
  EXPECT_EQ(h.device.base(), 18);
  h.device.disable_notify();
  h.device.reset();
  EXPECT_EQ(h.driver.detach_unused(), Token{17});
  EXPECT_EQ(h.driver.detach_unused(), Token{18});
  EXPECT_FALSE(h.driver.detach_unused());
  h.driver.reset();
  h.device.start(0);
  EXPECT_EQ(h.device.flush_used(), 0);
  EXPECT_FALSE(h.driver.reap());
  EXPECT_FALSE(h.device.enable_notify());
  h.add(19);
  EXPECT_TRUE(h.driver.kick_needed());
  ASSERT_EQ(h.fetch(), Fetch::kHead);
  h.complete(h.chain.head);
  EXPECT_TRUE(h.device.should_call());
  EXPECT_EQ(h.driver.reap()->token, 19u);
  EXPECT_EQ(h.ring.avail_idx(), 1);
  EXPECT_EQ(h.ring.used_idx(), 1);
}

// A driver without manners costs itself this queue; a device that started again serves the next.
TEST_P(EndToEnd, i01_a_broken_queue_lives_again_after_a_reset) {
  Halves h(8, GetParam());
  h.ring.avail_idx() = 9;
  EXPECT_EQ(h.fetch(), Fetch::kBroken);
  EXPECT_EQ(h.fetch(), Fetch::kEmpty);
  h.driver.reset();
  h.device.reset();
  h.device.start(0);
  h.add(1);
  EXPECT_EQ(h.fetch(), Fetch::kHead);
}

}  // namespace
}  // namespace vringlab
