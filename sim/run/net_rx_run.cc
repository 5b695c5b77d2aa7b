#include "sim/run/net_rx_run.h"

#include <algorithm>

#include "sim/machine/scheduler.h"
#include "sim/run/net_rx_world.h"
#include "sim/run/one_queue.h"

namespace vringlab::sim {
namespace {

// Tells the actors what the last step raised.
template <class World>
void deliver(World& world, std::uint64_t start_ps, bool guest_first, bool generator_first) {
  RxSide& rx = world.rx;
  deliver_bells(world, rx.queue, start_ps, guest_first);
  if (rx.tap.take_freed()) rx.generator.freed(start_ps, generator_first);
  if (!rx.generator.arrived() || !world.worker.asleep()) return;
  const std::uint64_t arrival_ps = rx.generator.take_arrival();
  // A worker at work looks by itself, and one that lacks buffers waits for the guest.
  if (!rx.tap.pending() || rx.device.lacks_buffers()) return;
  rx.generator.wakes();
  world.worker.kicked(arrival_ps);
}

// Who ends the run: the guest, or its application.
template <class World>
constexpr CoreId kLastCore = HasApp<decltype(World::guest)> ? World::kAppCore : World::kGuestCore;
template <class World>
Core& last_core(World& world) {
  return world.app_core != nullptr ? *world.app_core : world.guest_core;
}

// `actors`: by the number of their core.
template <class World>
void run_actors(World& world, const Scenario& s, RunControl* control, auto&... actors) {
  Scheduler scheduler(tie_ranks<sizeof...(actors)>(s.tie_seed), actors...);
  const bool guest_first = scheduler.first(World::kGuestCore, World::kWorkerCore);
  const bool generator_first = scheduler.first(World::kGeneratorCore, World::kWorkerCore);
  scheduler.run([&] { return world.worker.broken() || world.guest.done(); },
                [&] {
                  return world.rx.queue.bells.any() || world.rx.tap.freed() ||
                         (world.rx.generator.arrived() && world.worker.asleep()) || app_woke(world);
                },
                [&](std::size_t, std::uint64_t start_ps) {
                  clear_app_woke(world);
                  deliver(world, start_ps, guest_first, generator_first);
                  check_clock(std::max({world.guest_core.now(), world.worker_core.now(),
                                        world.generator_core.now()}));
                  report(control, world.guest.received());
                });
  // What the generator lost until the guest's last step, which ended the run.
  world.rx.generator.freed(world.guest.step_ps(),
                           scheduler.first(World::kGeneratorCore, kLastCore<World>));
}

template <class World>
void run_world(World& world, const Scenario& s, RunControl* control) {
  if constexpr (HasApp<decltype(world.guest)>) {
    run_actors(world, s, control, world.guest, world.worker, world.invalidator, world.rx.generator,
               world.guest.app());
  } else if (s.resizes_per_s > 0) {
    // The control core has one of two, never both.
    run_actors(world, s, control, world.guest, world.worker, world.resize_timer,
               world.rx.generator);
  } else {
    run_actors(world, s, control, world.guest, world.worker, world.invalidator, world.rx.generator);
  }
}

template <class World>
RunResult collect(World& world) {
  RunResult r;
  const NetRxCounters& counters = world.rx.rx.counters();
  r.packets = world.guest.received();
  r.bytes = world.guest.bytes();
  r.refused = counters.refused;
  r.dropped = counters.dropped + counters.lost + world.rx.generator.lost();
  r.batches = counters.batches;
  r.calls = counters.calls;
  set_elapsed(r, last_core(world).now());
  collect_queue(r, world, world.rx);
  r.cores.push_back(core_result("generator", world.generator_core));
  if (world.app_core != nullptr) r.cores.push_back(core_result("app", *world.app_core));
  if constexpr (HasApp<decltype(world.guest)>) r.dropped += world.guest.dropped();
  if constexpr (Resizable<decltype(world.guest)>) {
    r.resizes = world.guest.resizer().resizes();
    r.dropped += world.guest.resizer().lost();
  }
  world.dma.add_to(r.dma);
  return r;
}

template <class Guest>
RunResult run_guest(const Scenario& scenario, RunControl* control) {
  NetRxWorld<Guest> world(scenario);
  run_world(world, scenario, control);
  return collect(world);
}

}  // namespace

RunResult run_net_rx(const Scenario& scenario, RunControl* control) {
  if (scenario.guest == "vm-xsk") return run_guest<XskRxGuest>(scenario, control);
  if (scenario.guest == "vm-udp")
    return scenario.dma_merge ? run_guest<MergedUdpGuest>(scenario, control)
                              : run_guest<PerBufferUdpGuest>(scenario, control);
  if (scenario.guest != "vm-kernel") return run_guest<PmdReceiver>(scenario, control);
  return scenario.dma_merge ? run_guest<MergedReceiver>(scenario, control)
                            : run_guest<PerBufferReceiver>(scenario, control);
}

}  // namespace vringlab::sim
