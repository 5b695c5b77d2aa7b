// The run of queue pairs, for any kind. Kinds with a guest's kernel have a source file of their
// own: beside them the compiler no longer puts the other kinds' device loops into the scheduler's.
#pragma once

#include <algorithm>

#include "sim/machine/scheduler.h"
#include "sim/run/collect.h"
#include "sim/run/pairs_world.h"

namespace vringlab::sim {

std::uint64_t packets_of(const auto& world) {
  std::uint64_t sum = 0;
  for (const auto& pair : world.pairs) sum += pair->packets();
  return sum;
}

inline std::uint64_t latest_of(const std::vector<Core*>& cores) {
  std::uint64_t latest_ps = 0;
  for (const Core* core : cores) latest_ps = std::max(latest_ps, core->now());
  return latest_ps;
}

// Accounts for what polls and losses there were until the last step.
void end_pairs(auto& world, const PairOrder& order) {
  std::size_t last = 0;
  for (std::size_t i = 1; i < world.pairs.size(); ++i) {
    if (world.pairs[i]->step_ps() >= world.pairs[last]->step_ps()) last = i;
  }
  const std::uint64_t last_ps = world.pairs[last]->step_ps();
  for (std::size_t i = 0; i < world.pairs.size(); ++i)
    world.pairs[i]->end(last_ps, i < last, order);
}

// `actors`: guests, workers and generators, then others.
void run_pair_actors(auto& world, const Scenario& s, RunControl* control, auto&... actors) {
  enum Actor : std::size_t { kGuests, kThreads, kGenerators };
  Scheduler scheduler(tie_ranks<sizeof...(actors)>(s.tie_seed), actors...);
  const PairOrder order{.guest_before_worker = scheduler.first(kGuests, kThreads),
                        .generator_before_worker = scheduler.first(kGenerators, kThreads),
                        .generator_before_guest = scheduler.first(kGenerators, kGuests)};
  scheduler.run(
      [&] { return packets_of(world) >= s.packets; },
      [&] { return std::ranges::any_of(world.pairs, [](const auto& p) { return p->raised(); }); },
      [&](std::size_t, std::uint64_t start_ps) {
        for (const auto& pair : world.pairs) pair->deliver(start_ps, order);
        check_clock(latest_of(world.guest_cores));
        report(control, packets_of(world));
      });
  end_pairs(world, order);
}

void run_pair_world(auto& world, const Scenario& s, RunControl* control) {
  if (!world.reader_cores.empty())
    return run_pair_actors(world, s, control, world.guests, world.threads, world.generators,
                           world.readers);
  run_pair_actors(world, s, control, world.guests, world.threads, world.generators);
}

template <class Pair>
RunResult run_pair_kind(const Scenario& scenario, RunControl* control) {
  PairsWorld<Pair> world(scenario);
  run_pair_world(world, scenario, control);
  RunResult r;
  Histogram latency;
  for (const auto& pair : world.pairs) {
    pair->add_to(r, world.control_core);
    pair->add_to(latency);
  }
  for (std::size_t i = 0; i < world.threads.size(); ++i) r.wakeups += world.threads[i].wakeups();
  set_elapsed(r, std::max(latest_of(world.worker_cores), latest_of(world.guest_cores)));
  r.latency = latency_result(latency);
  r.guest_memory_hash = hash_bytes(world.net.guest_bytes());
  r.cores = {sum_of("guest", world.guest_cores), sum_of("worker", world.worker_cores),
             core_result("control", world.control_core)};
  if (Pair::kGenerates) r.cores.push_back(sum_of("generator", world.generator_cores));
  if (!world.reader_cores.empty()) r.cores.push_back(sum_of("reader", world.reader_cores));
  return r;
}

}  // namespace vringlab::sim
