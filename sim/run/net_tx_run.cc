#include "sim/run/net_tx_run.h"

#include <algorithm>

#include "sim/machine/scheduler.h"
#include "sim/run/collect.h"
#include "sim/run/net_tx_world.h"

namespace vringlab::sim {
namespace {

// Tells the actors what the last step raised.
void deliver(NetTxWorld& world, std::uint64_t start_ps, bool guest_first) {
  const Doorbells raised = world.queue.bells;
  world.queue.bells = {};
  if (raised.used_written) world.guest.used_written(start_ps, guest_first);
  if (raised.kick) world.worker.kicked(raised.kick_ps);
  if (raised.call) world.guest.called(raised.call_ps + world.net.machine.costs.irq_latency_ps);
}

void run_world(NetTxWorld& world, const Scenario& s, RunControl* control) {
  Scheduler scheduler(tie_ranks<3>(s.tie_seed), world.guest, world.worker, world.invalidator);
  const bool guest_first = scheduler.first(NetTxWorld::kGuestCore, NetTxWorld::kWorkerCore);
  // A worker whose queue is broken sleeps as well, so one look is enough while it runs.
  scheduler.run(
      [&] { return world.worker.asleep() && (world.worker.broken() || world.guest.done()); },
      [&] { return world.queue.bells.any(); },
      [&](std::size_t, std::uint64_t start_ps) {
        deliver(world, start_ps, guest_first);
        check_clock(std::max(world.guest_core.now(), world.worker_core.now()));
        report(control, world.device.counters().taken);
      });
}

RunResult collect(NetTxWorld& world) {
  RunResult r;
  const NetTxCounters& counters = world.device.counters();
  r.packets = counters.packets - world.sink.nic_dropped();
  r.bytes = counters.bytes;
  r.refused = counters.refused;
  r.dropped = counters.dropped + world.sink.nic_dropped();
  r.batches = counters.batches + counters.alone;
  r.alone = counters.alone;
  r.calls = counters.calls;
  set_elapsed(r, std::max(world.worker_core.now(), world.guest_core.now()));
  r.kicks = world.guest.kicks();
  r.interrupts = world.guest.interrupts();
  r.wakeups = world.worker.wakeups();
  r.inline_packets = world.worker.inline_served();
  r.invalidations = world.invalidator.invalidations();
  r.latency = latency_result(world.latency.histogram());
  r.guest_memory_hash = hash_bytes(world.net.guest_bytes());
  collect_mapping(r, world.queue, world.control_core);
  r.cores = {core_result("guest", world.guest_core), core_result("worker", world.worker_core),
             core_result("control", world.control_core)};
  return r;
}

}  // namespace

RunResult run_net_tx(const Scenario& scenario, RunControl* control) {
  NetTxWorld world(scenario);
  run_world(world, scenario, control);
  return collect(world);
}

}  // namespace vringlab::sim
