#include "sim/run/zerocopy_run.h"

#include <algorithm>

#include "sim/machine/scheduler.h"
#include "sim/run/one_queue.h"
#include "sim/run/zerocopy_world.h"

namespace vringlab::sim {
namespace {

// Tells the actors what the last step raised.
void deliver(ZeroCopyWorld& world, std::uint64_t start_ps, bool guest_first) {
  deliver_bells(world, world.queue, start_ps, guest_first);
  if (!world.nic.completed()) return;
  world.device.complete(world.nic.take(), false);
  // A worker at work looks by itself; one that sleeps is woken when all are done.
  if (world.worker.asleep() && world.device.finished()) world.worker.kicked(start_ps);
}

void run_world(ZeroCopyWorld& world, const Scenario& s, RunControl* control) {
  Scheduler scheduler(tie_ranks<4>(s.tie_seed), world.guest, world.worker, world.invalidator,
                      world.nic);
  const bool guest_first = scheduler.first(ZeroCopyWorld::kGuestCore, ZeroCopyWorld::kWorkerCore);
  const auto done = [&] {
    return world.worker.asleep() &&
           (world.worker.broken() || (world.guest.done() && world.device.pending() == 0));
  };
  scheduler.run(
      done, [&] { return world.queue.bells.any() || world.nic.completed(); },
      [&](std::size_t, std::uint64_t start_ps) {
        deliver(world, start_ps, guest_first);
        check_clock(std::max(world.guest_core.now(), world.worker_core.now()));
        report(control, world.device.counters().taken);
      });
}

RunResult collect(ZeroCopyWorld& world) {
  RunResult r;
  const NetTxZeroCopyCounters& counters = world.device.counters();
  r.packets = counters.packets - world.sink.dropped();
  r.bytes = counters.bytes;
  r.refused = counters.refused;
  r.dropped = world.sink.dropped();
  r.batches = r.alone = counters.packets;
  r.lent = counters.borrowed;
  r.calls = counters.calls;
  set_elapsed(r, std::max(world.worker_core.now(), world.guest_core.now()));
  collect_queue(r, world, world);
  return r;
}

}  // namespace

RunResult run_zerocopy(const Scenario& scenario, RunControl* control) {
  ZeroCopyWorld world(scenario);
  run_world(world, scenario, control);
  return collect(world);
}

}  // namespace vringlab::sim
