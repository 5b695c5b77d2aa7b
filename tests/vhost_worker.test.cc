// The vhost worker stepped by hand. A mapping that is taken away under it: ring
// accesses fall back to user accesses at once, and its next run maps the ring again.
#include <gtest/gtest.h>

#include "sim/run/net_tx_world.h"
#include "tests/double/model_machine.h"

namespace vringlab::sim {
namespace {

using test::occurrences;

// A world whose actors are stepped by hand.
struct Stepped {
  NetTxWorld<PmdSender> world;

  explicit Stepped(Guard guard = Guard::kSpinlock)
      : world({.packets = 1000,
               .guest_burst = 32,
               .plan = {.map_desc = true, .map_avail = true, .map_used = true, .guard = guard},
               .invalidations_per_s = 1000}) {}

  // The guest publishes a burst and kicks the worker.
  void guest_sends() {
    while (!world.tx.queue.bells.kick) world.guest.step();
    world.tx.queue.bells = {};
    world.worker.kicked(world.guest_core.now());
  }
  void worker_takes(int packets) {
    for (int i = 0; i < packets; ++i) world.worker.step();
  }
  void worker_ends_its_run() {
    while (!world.worker.asleep()) world.worker.step();
  }
  std::uint64_t user_reads() const {
    return occurrences(world.worker_core, Cost::kStacClac, Step::kDescriptor);
  }
  std::uint64_t guarded_reads() const {
    return occurrences(world.worker_core, Cost::kSpinLock, Step::kDescriptor);
  }
  std::uint64_t pages_mapped_by_worker() const {
    return occurrences(world.worker_core, Cost::kGup, Step::kMapping);
  }
};

TEST(InvalidatedMapping, the_worker_falls_back_in_the_middle_of_its_run) {
  Stepped s;
  s.guest_sends();
  s.worker_takes(3);
  EXPECT_EQ(s.guarded_reads(), 3u);
  EXPECT_EQ(s.user_reads(), 0u);
  s.world.invalidator.step();
  EXPECT_TRUE(s.world.tx.queue.context.unmapped);
  EXPECT_EQ(s.world.net.pages.pinned_pages(), 0u);
  s.worker_takes(4);
  EXPECT_EQ(s.guarded_reads(), 3u);
  EXPECT_EQ(s.user_reads(), 4u);
  EXPECT_EQ(s.pages_mapped_by_worker(), 0u);  // not before its next run
}

TEST(InvalidatedMapping, the_next_run_maps_the_ring_again_at_its_own_cost) {
  Stepped s;
  const std::uint64_t pinned = s.world.tx.queue.mapping.pinned_bytes();
  s.guest_sends();
  s.world.invalidator.step();
  s.worker_takes(1);
  EXPECT_TRUE(s.world.tx.queue.mapping.usable());
  EXPECT_FALSE(s.world.tx.queue.context.unmapped);
  EXPECT_EQ(s.world.tx.queue.mapping.pinned_bytes(), pinned);
  EXPECT_EQ(s.pages_mapped_by_worker(), 3u);
  EXPECT_EQ(s.user_reads(), 0u);
  EXPECT_EQ(s.guarded_reads(), 1u);
}

TEST(InvalidatedMapping, a_run_that_cannot_map_it_goes_on_without) {
  Stepped s;
  s.world.invalidator.step();
  s.world.net.pages.fail_after(1);
  s.guest_sends();
  s.worker_takes(2);
  EXPECT_EQ(s.user_reads(), 2u);
  EXPECT_EQ(s.world.net.pages.pinned_pages(), 0u);
  s.worker_ends_its_run();
  EXPECT_EQ(s.world.tx.device.counters().packets, 32u);
  s.guest_sends();
  s.worker_takes(1);
  EXPECT_TRUE(s.world.tx.queue.mapping.usable());
}

TEST(InvalidatedMapping, written_pages_are_known_to_be_dirty) {
  Stepped s;
  s.guest_sends();
  s.worker_ends_its_run();
  s.world.invalidator.step();
  std::uint64_t dirty = 0;
  for (std::uint64_t page = 0; page < 3; ++page) dirty += s.world.net.pages.dirty(page) ? 1u : 0u;
  EXPECT_EQ(dirty, 1u);  // descriptors, avail and used have a page each
}

TEST(InvalidatedMapping, the_memory_manager_pays_for_the_unmapping) {
  Stepped s(Guard::kRcu);
  const std::uint64_t before = s.world.control_core.busy_ps();
  const CostModel& costs = s.world.net.machine.costs;
  s.world.invalidator.step();
  EXPECT_EQ(s.world.control_core.busy_ps() - before,
            costs[Cost::kMmuNotifier] + costs[Cost::kRcuGrace] +
                3 * (costs[Cost::kVunmap] + costs[Cost::kUnpinDirty] + costs[Cost::kTlbShootdown]));
  EXPECT_EQ(s.world.worker_core.busy_ps(), 0u);
  EXPECT_EQ(s.world.invalidator.invalidations(), 1u);
}

TEST(InvalidatedMapping, a_second_invalidation_finds_nothing) {
  Stepped s;
  s.world.invalidator.step();
  const std::uint64_t before = s.world.control_core.busy_ps();
  s.world.invalidator.step();
  EXPECT_EQ(s.world.control_core.busy_ps(), before);
  EXPECT_EQ(s.world.invalidator.invalidations(), 1u);
}

// How often the worker asked for kicks before it slept.
std::uint64_t looks_before_sleep(bool kicked_again) {
  Stepped s;
  s.guest_sends();
  s.worker_takes(1);
  if (kicked_again) s.world.worker.kicked(s.world.guest_core.now());
  s.worker_ends_its_run();
  EXPECT_EQ(s.world.tx.device.counters().packets, 32u);
  EXPECT_EQ(s.world.worker.wakeups(), 1u);
  return occurrences(s.world.worker_core, Cost::kFullBarrier, Step::kSuppress);
}

TEST(VhostWorker, one_kicked_while_it_runs_looks_again_before_it_sleeps) {
  EXPECT_EQ(looks_before_sleep(false), 1u);
  EXPECT_EQ(looks_before_sleep(true), 2u);
}

TEST(VhostWorker, a_kick_wakes_it_after_its_latency) {
  Stepped s;
  s.guest_sends();
  const CostModel& costs = s.world.net.machine.costs;
  EXPECT_EQ(s.world.worker_core.now(), s.world.guest_core.now() + costs.wakeup_ps);
  EXPECT_EQ(s.world.worker_core.busy_ps(), costs[Cost::kContextSwitch]);
}

}  // namespace
}  // namespace vringlab::sim
