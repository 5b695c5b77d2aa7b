#include "sim/run/net_tx_run.h"

#include <algorithm>

#include "sim/machine/scheduler.h"
#include "sim/run/net_tx_world.h"
#include "sim/run/one_queue.h"

namespace vringlab::sim {
namespace {

// `actors`: guest and worker, then others.
void run_actors(NetTxWorld& world, const Scenario& s, RunControl* control, auto&... actors) {
  Scheduler scheduler(tie_ranks<sizeof...(actors)>(s.tie_seed), actors...);
  const bool guest_first = scheduler.first(NetTxWorld::kGuestCore, NetTxWorld::kWorkerCore);
  // A worker whose queue is broken sleeps as well, so one look is enough while it runs.
  scheduler.run(
      [&] { return world.worker.asleep() && (world.worker.broken() || world.guest.done()); },
      [&] { return world.tx.queue.bells.any() || world.tx.reader_woken(); },
      [&](std::size_t, std::uint64_t start_ps) {
        world.tx.clear_woken();
        deliver_bells(world, world.tx.queue, start_ps, guest_first);
        check_clock(std::max(world.guest_core.now(), world.worker_core.now()));
        report(control, world.tx.device.counters().taken);
      });
}

void run_world(NetTxWorld& world, const Scenario& s, RunControl* control) {
  if (world.tx.reader != nullptr)
    return run_actors(world, s, control, world.guest, world.worker, world.invalidator,
                      *world.tx.reader);
  run_actors(world, s, control, world.guest, world.worker, world.invalidator);
}

RunResult collect(NetTxWorld& world) {
  RunResult r;
  const NetTxCounters& counters = world.tx.device.counters();
  r.packets = counters.packets - world.tx.sink.dropped();
  r.bytes = counters.bytes;
  r.refused = counters.refused;
  r.dropped = counters.dropped + world.tx.sink.dropped();
  r.batches = counters.batches + counters.alone;
  r.alone = counters.alone;
  r.calls = counters.calls;
  set_elapsed(r, std::max(world.worker_core.now(), world.guest_core.now()));
  collect_queue(r, world, world.tx);
  if (world.reader_core != nullptr) r.cores.push_back(core_result("reader", *world.reader_core));
  return r;
}

}  // namespace

RunResult run_net_tx(const Scenario& scenario, RunControl* control) {
  NetTxWorld world(scenario);
  run_world(world, scenario, control);
  return collect(world);
}

}  // namespace vringlab::sim
