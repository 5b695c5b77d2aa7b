// The same engine on plain memory and on the simulated machine, fed the same random
// traces of a driver that makes mistakes: what the guest sees, what the sink is
// given and what is counted must be the same, whatever the access plan.
#include <gtest/gtest.h>

#include "tests/differential/player.h"
#include "tests/double/model_tx.h"

namespace vringlab {
namespace {

using sim::AccessPlan;
using sim::RandomStream;
using test::kEventIdx;
using test::kIndirect;
using test::one_of;
using test::Player;

struct TxTrace {
  QueueConfig ring;
  NetTxConfig options;
  AccessPlan plan;
  std::uint64_t seed;
};

TxTrace any_tx_trace(std::uint64_t seed) {
  RandomStream random(seed);
  const auto size = one_of<std::uint32_t>(random, {2, 8, 64});
  const auto features =
      one_of<std::uint64_t>(random, {0, kEventIdx, kIndirect, kEventIdx | kIndirect});
  return {.ring = test::packed_ring(size, features),
          .options = {.batch = one_of<std::uint32_t>(random, {1, 3, 64}),
                      .copy_batch = one_of<std::uint32_t>(random, {1, 1, 4, 100}),
                      .socket = {.batches = random.next() % 4 != 0},
                      .weight = {.packets = one_of<std::uint32_t>(random, {1, 5, 256}),
                                 .bytes = one_of<std::uint32_t>(random, {200, 0x80000})}},
          .plan = test::any_plan(random),
          .seed = random.next()};
}

void expect_equal_counters(const NetTxCounters& a, const NetTxCounters& b) {
  EXPECT_EQ(a.taken, b.taken);
  EXPECT_EQ(a.packets, b.packets);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.batches, b.batches);
  EXPECT_EQ(a.alone, b.alone);
  EXPECT_EQ(a.dropped, b.dropped);
  EXPECT_EQ(a.refused, b.refused);
  EXPECT_EQ(a.calls, b.calls);
  EXPECT_EQ(a.last_error, b.last_error);
}

void expect_equal_frames(const test::KeepingSink& a, const test::KeepingSink& b) {
  EXPECT_EQ(a.batches, b.batches);
  ASSERT_EQ(a.frames.size(), b.frames.size());
  for (std::size_t i = 0; i < a.frames.size(); ++i) {
    ASSERT_EQ(a.frames[i].bytes, b.frames[i].bytes) << "frame " << i;
    ASSERT_EQ(std::memcmp(&a.frames[i].header, &b.frames[i].header, sizeof(VirtioNetHdr)), 0)
        << "frame " << i;
  }
}

struct TxSeen {
  std::uint64_t packets = 0;
  std::uint64_t refused = 0;
  std::uint64_t dropped = 0;
  std::uint64_t calls = 0;
  std::uint64_t breaks = 0;
};

void expect_same_outcome(const TxTrace& trace, TxSeen& seen) {
  test::PlainTx plain(trace.ring, trace.options);
  test::ModelTx model(trace.ring, trace.options, trace.plan);
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
  expect_equal_counters(plain.tx.counters(), model.tx.counters());
  expect_equal_frames(plain.sink, model.sink);
  EXPECT_EQ(plain.caller.calls, model.caller.calls);
  EXPECT_EQ(plain.pool.outstanding(), model.pool.outstanding());
  EXPECT_EQ(model.model.device_core.ledger().total_ps(), model.model.device_core.busy_ps());
  const NetTxCounters& counters = model.tx.counters();
  seen.packets += counters.packets;
  seen.refused += counters.refused;
  seen.dropped += counters.dropped;
  seen.calls += counters.calls;
  seen.breaks += static_cast<std::uint64_t>(model_player.breaks());
}

TEST(Differential, net_tx_does_the_same_on_plain_and_on_simulated_memory) {
  TxSeen seen;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    expect_same_outcome(any_tx_trace(seed), seen);
    if (testing::Test::HasFailure()) return;
  }
  // The traces are worth something: all that can happen did, many times.
  EXPECT_GT(seen.packets, 3000u);
  EXPECT_GT(seen.refused, 300u);
  EXPECT_GT(seen.dropped, 150u);
  EXPECT_GT(seen.calls, 300u);
  EXPECT_GT(seen.breaks, 50u);
}

}  // namespace
}  // namespace vringlab
