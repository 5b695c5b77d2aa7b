// The receive loop on plain memory and on the simulated machine, fed the same random
// traces: what the guest sees and what is counted must be the same.
#include <gtest/gtest.h>

#include "tests/differential/player.h"
#include "tests/double/model_rx.h"

namespace vringlab {
namespace {

using test::kEventIdx;
using test::kIndirect;
using test::one_of;
using test::Player;

struct Trace {
  QueueConfig ring;
  NetRxConfig options;
  sim::AccessPlan plan;
  std::uint64_t seed;
};

Trace any_trace(std::uint64_t seed) {
  sim::RandomStream random(seed);
  const auto size = one_of<std::uint32_t>(random, {2, 8, 64});
  const auto features =
      one_of<std::uint64_t>(random, {0, kEventIdx, kIndirect, kEventIdx | kIndirect});
  return {.ring = test::packed_ring(size, features),
          .options = {.dequeue_batch = one_of<std::uint32_t>(random, {1, 3, 64}),
                      .used_batch = one_of<std::uint32_t>(random, {1, 4, 64}),
                      .mergeable = one_of(random, {false, true, true}),
                      .max_buffers = one_of<std::uint32_t>(random, {2, 5, 1024}),
                      .weight = {.packets = one_of<std::uint32_t>(random, {1, 5, 256}),
                                 .bytes = one_of<std::uint32_t>(random, {200, 0x80000})}},
          .plan = test::any_plan(random),
          .seed = random.next()};
}

void expect_equal_counters(const NetRxCounters& a, const NetRxCounters& b) {
  EXPECT_EQ(a.packets, b.packets);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.buffers, b.buffers);
  EXPECT_EQ(a.batches, b.batches);
  EXPECT_EQ(a.dropped, b.dropped);
  EXPECT_EQ(a.starved, b.starved);
  EXPECT_EQ(a.refused, b.refused);
  EXPECT_EQ(a.calls, b.calls);
  EXPECT_EQ(a.last_error, b.last_error);
}

// Sums over traces.
struct Seen {
  NetRxCounters counters;
  int breaks = 0;

  void add(const NetRxCounters& more, int more_breaks) {
    counters.packets += more.packets;
    counters.buffers += more.buffers;
    counters.dropped += more.dropped;
    counters.starved += more.starved;
    counters.refused += more.refused;
    counters.calls += more.calls;
    breaks += more_breaks;
  }
};

void expect_same_outcome(const Trace& trace, Seen& seen) {
  test::PlainRx plain(trace.ring, trace.options);
  test::ModelRx model(trace.ring, trace.options, trace.plan);
  Player plain_player(plain, trace.seed);
  Player model_player(model, trace.seed);
  test::Unmapper unmapper(model, trace.plan, trace.seed);
  for (int i = 0; i < 40; ++i) {
    plain_player.play(10);
    model_player.play(10);
    unmapper.turn();
    ASSERT_EQ(plain_player.events(), model_player.events()) << "after " << i;
    test::expect_equal_memory(plain.guest_bytes(), model.guest_bytes());
    if (testing::Test::HasFailure()) return;
  }
  expect_equal_counters(plain.rx.counters(), model.rx.counters());
  EXPECT_EQ(plain.caller.calls, model.caller.calls);
  EXPECT_EQ(plain.socket.outstanding, model.socket.outstanding);
  EXPECT_EQ(model.model.device_core.ledger().total_ps(), model.model.device_core.busy_ps());
  seen.add(model.rx.counters(), model_player.breaks());
}

TEST(Differential, net_rx_does_the_same_on_plain_and_on_simulated_memory) {
  Seen seen;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    expect_same_outcome(any_trace(seed), seen);
    if (testing::Test::HasFailure()) return;
  }
  // The traces are worth something: all that can happen did, many times.
  EXPECT_GT(seen.counters.packets, 3000u);
  EXPECT_GT(seen.counters.buffers, seen.counters.packets + 300);
  EXPECT_GT(seen.counters.dropped, 300u);
  EXPECT_GT(seen.counters.starved, 300u);
  EXPECT_GT(seen.counters.refused, 300u);
  EXPECT_GT(seen.counters.calls, 300u);
  EXPECT_GT(seen.breaks, 50);
}

}  // namespace
}  // namespace vringlab
