#include "sim/run/net_rx_run.h"

#include <algorithm>

#include "sim/machine/scheduler.h"
#include "sim/run/net_rx_world.h"
#include "sim/run/one_queue.h"

namespace vringlab::sim {
namespace {

// Tells the actors what the last step raised.
void deliver(NetRxWorld& world, std::uint64_t start_ps, bool guest_first) {
  deliver_bells(world, start_ps, guest_first);
  if (!world.generator.arrived()) return;
  const std::uint64_t arrival_ps = world.generator.take_arrival();
  if (!world.worker.asleep() || world.device.lacks_buffers()) return;
  world.generator.wakes();
  world.worker.kicked(arrival_ps);
}

void run_world(NetRxWorld& world, const Scenario& s, RunControl* control) {
  Scheduler scheduler(tie_ranks<4>(s.tie_seed), world.guest, world.worker, world.invalidator,
                      world.generator);
  const bool guest_first = scheduler.first(NetRxWorld::kGuestCore, NetRxWorld::kWorkerCore);
  scheduler.run([&] { return world.worker.broken() || world.guest.done(); },
                [&] { return world.queue.bells.any() || world.generator.arrived(); },
                [&](std::size_t, std::uint64_t start_ps) {
                  deliver(world, start_ps, guest_first);
                  check_clock(std::max({world.guest_core.now(), world.worker_core.now(),
                                        world.generator_core.now()}));
                  report(control, world.guest.received());
                });
}

RunResult collect(NetRxWorld& world) {
  RunResult r;
  const NetRxCounters& counters = world.rx.counters();
  r.packets = world.guest.received();
  r.bytes = world.guest.bytes();
  r.refused = counters.refused;
  r.dropped = counters.dropped + world.generator.lost();
  r.batches = counters.batches;
  r.calls = counters.calls;
  set_elapsed(r, world.guest_core.now());
  collect_queue(r, world);
  r.cores.push_back(core_result("generator", world.generator_core));
  return r;
}

}  // namespace

RunResult run_net_rx(const Scenario& scenario, RunControl* control) {
  NetRxWorld world(scenario);
  run_world(world, scenario, control);
  return collect(world);
}

}  // namespace vringlab::sim
