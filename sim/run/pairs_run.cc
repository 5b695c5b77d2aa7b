#include "sim/run/pairs_run.h"

#include <algorithm>

#include "sim/machine/scheduler.h"
#include "sim/run/collect.h"
#include "sim/run/pairs_world.h"

namespace vringlab::sim {
namespace {

// The guests, and the generators, of all pairs as one actor each.
template <auto Member>
class OfPairs {
 public:
  explicit OfPairs(PairsWorld& world) : world_(&world) {}

  const Core& core() const { return first().core(); }
  bool runnable() const { return true; }
  void step() { first().step(); }

 private:
  auto& first() const {
    QueuePair* best = world_->pairs.front().get();
    for (const auto& pair : world_->pairs) {
      if ((*pair.*Member).core().now() < (*best.*Member).core().now()) best = pair.get();
    }
    return (*best).*Member;
  }

  PairsWorld* world_;
};

void wake(QueuePair& pair, auto& task, std::uint64_t at_ps) {
  task.queue();
  pair.thread->wake(at_ps);
}

bool raised(const QueuePair& pair) { return pair.generator.arrived() || pair.guest.kicked(); }

// Tells the worker what a pair's last step raised; nobody is called, guests poll.
void deliver(QueuePair& pair) {
  const Forwarder::Kicks kicks = pair.guest.take_kicks();
  if (kicks.tx) wake(pair, pair.tx_task, pair.guest.core().now());
  if (kicks.rx) wake(pair, pair.rx_task, pair.guest.core().now());
  if (!pair.generator.arrived()) return;
  const std::uint64_t arrival_ps = pair.generator.take_arrival();
  if (pair.rx_task.ready() || pair.rx_device.lacks_buffers()) return;
  pair.generator.wakes();
  wake(pair, pair.rx_task, arrival_ps);
}

std::uint64_t sent(const PairsWorld& world) {
  std::uint64_t sum = 0;
  for (const auto& pair : world.pairs) sum += pair->tx.counters().packets;
  return sum;
}

std::uint64_t latest(const std::vector<Core*>& cores) {
  std::uint64_t latest_ps = 0;
  for (const Core* core : cores) latest_ps = std::max(latest_ps, core->now());
  return latest_ps;
}

void run_world(PairsWorld& world, const Scenario& s, RunControl* control) {
  OfPairs<&QueuePair::guest> guests(world);
  OfPairs<&QueuePair::generator> generators(world);
  Scheduler scheduler(tie_ranks<3>(s.tie_seed), guests, world.threads, generators);
  scheduler.run(
      [&] { return sent(world) >= s.packets; },
      [&] { return std::ranges::any_of(world.pairs, [](const auto& p) { return raised(*p); }); },
      [&](std::size_t, std::uint64_t) {
        for (const auto& pair : world.pairs) deliver(*pair);
        check_clock(latest(world.guest_cores));
        report(control, sent(world));
      });
}

void add_pair(RunResult& r, QueuePair& pair, Core& control) {
  const NetTxCounters& tx = pair.tx.counters();
  r.packets += tx.packets - pair.sink.nic_dropped();
  r.bytes += tx.bytes;
  r.refused += tx.refused + pair.rx.counters().refused;
  r.dropped += tx.dropped + pair.sink.nic_dropped() + pair.generator.lost() + pair.guest.dropped() +
               pair.rx.counters().dropped;
  r.batches += tx.batches + tx.alone;
  r.alone += tx.alone;
  r.calls += tx.calls + pair.rx.counters().calls;
  r.kicks += pair.guest.kicks();
  r.pinned_bytes += pair.rx_queue.mapping.pinned_bytes() + pair.tx_queue.mapping.pinned_bytes();
  r.setup_ps += pair.rx_queue.setup_ps + pair.tx_queue.setup_ps;
  const std::uint64_t before = control.busy_ps();
  pair.rx_queue.mapping.tear_down(control);
  pair.tx_queue.mapping.tear_down(control);
  r.teardown_ps += control.busy_ps() - before;
}

}  // namespace

RunResult run_pairs(const Scenario& scenario, RunControl* control) {
  PairsWorld world(scenario);
  run_world(world, scenario, control);
  RunResult r;
  for (const auto& pair : world.pairs) add_pair(r, *pair, world.control_core);
  for (std::size_t i = 0; i < world.threads.size(); ++i) r.wakeups += world.threads[i].wakeups();
  set_elapsed(r, std::max(latest(world.worker_cores), latest(world.guest_cores)));
  r.guest_memory_hash = hash_bytes(world.net.guest_bytes());
  r.cores = {sum_of("guest", world.guest_cores), sum_of("worker", world.worker_cores),
             core_result("control", world.control_core),
             sum_of("generator", world.generator_cores)};
  return r;
}

}  // namespace vringlab::sim
