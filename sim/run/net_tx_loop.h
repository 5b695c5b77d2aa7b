// The run of one transmit queue, for any guest. Each guest has a source file of its own: where
// two share one, the compiler no longer puts the device loop into the scheduler's (+10 %
// instructions a packet).
#pragma once

#include <algorithm>

#include "sim/machine/scheduler.h"
#include "sim/run/net_tx_world.h"
#include "sim/run/one_queue.h"

namespace vringlab::sim {

// `actors`: guest and worker, then others.
template <class World>
void run_tx_actors(World& world, const Scenario& s, RunControl* control, auto&... actors) {
  Scheduler scheduler(tie_ranks<sizeof...(actors)>(s.tie_seed), actors...);
  const bool guest_first = scheduler.first(World::kGuestCore, World::kWorkerCore);
  // A worker whose queue is broken sleeps as well, so one look is enough while it runs.
  scheduler.run(
      [&] { return world.worker.asleep() && (world.worker.broken() || world.guest.done()); },
      [&] { return world.tx.queue.bells.any() || world.tx.reader_woken() || app_woke(world); },
      [&](std::size_t, std::uint64_t start_ps) {
        world.tx.clear_woken();
        clear_app_woke(world);
        deliver_bells(world, world.tx.queue, start_ps, guest_first);
        check_clock(std::max(world.guest_core.now(), world.worker_core.now()));
        report(control, world.tx.device.counters().taken);
      });
}

template <class World>
void run_tx_world(World& world, const Scenario& s, RunControl* control) {
  if constexpr (HasApp<decltype(world.guest)>) {
    run_tx_actors(world, s, control, world.guest, world.worker, world.invalidator,
                  world.guest.app());
  } else if (world.tx.reader != nullptr) {
    run_tx_actors(world, s, control, world.guest, world.worker, world.invalidator,
                  *world.tx.reader);
  } else {
    run_tx_actors(world, s, control, world.guest, world.worker, world.invalidator);
  }
}

template <class World>
RunResult collect_tx(World& world) {
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
  if (world.fourth_core != nullptr)
    r.cores.push_back(
        core_result(HasApp<decltype(world.guest)> ? "app" : "reader", *world.fourth_core));
  world.dma.add_to(r.dma);
  return r;
}

template <class Guest>
RunResult run_tx_guest(const Scenario& scenario, RunControl* control) {
  NetTxWorld<Guest> world(scenario);
  run_tx_world(world, scenario, control);
  return collect_tx(world);
}

}  // namespace vringlab::sim
