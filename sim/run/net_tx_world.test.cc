#include "sim/run/net_tx_world.h"

#include <gtest/gtest.h>

#include <set>

#include "sim/run/run.h"

namespace vringlab::sim {
namespace {

std::set<Step> steps_of(const CoreResult& core, Cost cost) {
  std::set<Step> steps;
  for (const LedgerRow& row : core.ledger) {
    if (row.cost == cost) steps.insert(row.step);
  }
  return steps;
}

// Packets a millisecond apart meet a worker that sleeps: none of them is seen
// before it is there.
TEST(NetTxWorld, each_packet_of_a_light_load_wakes_the_worker) {
  const Scenario light{.packets = 100, .offered_pps = 1000};
  const RunResult r = run(light);
  EXPECT_EQ(r.packets, light.packets);
  EXPECT_EQ(r.kicks, light.packets);
  EXPECT_EQ(r.wakeups, light.packets);
  EXPECT_GE(r.latency.p50_ps, NetTxWorld<PmdSender>(light).net.machine.costs.wakeup_ps);
}

// Overdue arrivals don't wait, and none is lost where the ring is full: the last
// packet leaves at its time, not gaps later.
TEST(NetTxWorld, a_full_ring_swallows_no_arrival) {
  const RunResult r = run({.packets = 100, .offered_pps = 1000, .ring_size = 2});
  EXPECT_GE(r.elapsed_ps, 100'000'000'000u);
  EXPECT_LT(r.elapsed_ps, 100'100'000'000u);
}

TEST(NetTxWorld, a_remote_ring_leaves_the_frames_at_home) {
  const RunResult r = run({.ring_remote = true, .packets = 2000});
  const std::set<Step> remote =
      steps_of(r.cores[NetTxWorld<PmdSender>::kWorkerCore], Cost::kRemoteHome);
  EXPECT_EQ(remote,
            (std::set{Step::kAvailIndex, Step::kAvailHead, Step::kDescriptor, Step::kCall}));
}

}  // namespace
}  // namespace vringlab::sim
