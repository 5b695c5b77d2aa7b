#include "sim/run/stream_run.h"

#include <algorithm>
#include <cmath>

#include "sim/access/record_bells.h"
#include "sim/machine/scheduler.h"
#include "sim/run/collect.h"
#include "sim/run/stream_world.h"

namespace vringlab::sim {
namespace {

// A queue's kick comes from whichever processor wrote, its call goes to one of them.
void record(StreamPair& pair, const Doorbells& tx, const Doorbells& rx,
            const StreamStack::Kicks& kicks) {
  record_bells(tx, pair.cpu->core(), *pair.tx_queue.context.core);
  record_bells(rx, pair.cpu->core(), *pair.rx_queue.context.core);
  Recorder* recorder = Recorder::current();
  if (recorder == nullptr) return;
  if (kicks.tx) recorder->kick(kicks.at_ps, *pair.tx_queue.context.core);
  if (kicks.rx) recorder->kick(kicks.at_ps, *pair.rx_queue.context.core);
}

// Tells the actors what the last step raised in a pair.
void deliver(StreamWorld& world, StreamPair& pair) {
  const std::uint64_t heard_ps = world.net.machine.costs.irq_latency_ps;
  const Doorbells tx = std::exchange(pair.tx_queue.bells, {});
  const Doorbells rx = std::exchange(pair.rx_queue.bells, {});
  const StreamStack::Kicks kicks = pair.stack.take_kicks();
  record(pair, tx, rx, kicks);
  for (const StreamStack::Woken& woken : pair.stack.take_woken())
    world.cpu_of(woken.session).woken(pair.stack, woken);
  if (tx.call) pair.cpu->tx_called(pair.line, tx.call_ps + heard_ps);
  if (rx.call) pair.cpu->rx_called(pair.line, rx.call_ps + heard_ps);
  if (kicks.tx) pair.tx_served.wake(kicks.at_ps);
  if (kicks.rx) pair.rx_served.wake(kicks.at_ps);
  const Arrival acked = std::exchange(pair.acked, {});
  if (acked.raised) pair.rx_served.wake(acked.at_ps);
}

std::uint64_t packets(const StreamWorld& world) {
  std::uint64_t sum = 0;
  for (const auto& pair : world.pairs) sum += pair->stack.packets();
  return sum;
}

void run_world(StreamWorld& world, const Scenario& s, RunControl* control) {
  const auto end_ps = static_cast<std::uint64_t>(std::llround(s.stream_ms * 1e9));
  Scheduler scheduler(tie_ranks<3>(s.tie_seed), world.guest, world.threads, world.readers);
  scheduler.run(
      [&] { return world.latest_ps() >= end_ps; },
      [&] { return std::ranges::any_of(world.pairs, [](const auto& p) { return p->raised(); }); },
      [&](std::size_t, std::uint64_t) {
        for (const auto& pair : world.pairs) deliver(world, *pair);
        report(control, packets(world));
      });
}

void add_pair(RunResult& r, Histogram& answers, StreamPair& pair, Core& control) {
  const NetTxCounters& counters = pair.tx.counters();
  r.packets += counters.packets;
  r.refused += counters.refused;
  r.dropped += counters.dropped;
  r.batches += counters.batches + counters.alone;
  r.alone += counters.alone;
  r.calls += counters.calls + pair.rx.counters().calls;
  r.kicks += pair.stack.kicks();
  answers.add(pair.stack.answers());
  collect_mapping(r, pair.tx_queue, control);
  pair.rx_queue.mapping.tear_down(control);
}

RunResult collect(StreamWorld& world, const Scenario& s) {
  RunResult r;
  Histogram answers;
  for (const auto& pair : world.pairs) add_pair(r, answers, *pair, world.control_core);
  for (std::size_t i = 0; i < world.readers.size(); ++i) r.bytes += world.readers[i].bytes_read();
  set_elapsed(r, static_cast<std::uint64_t>(std::llround(s.stream_ms * 1e9)));
  for (std::size_t i = 0; i < world.guest.size(); ++i) r.interrupts += world.guest[i].interrupts();
  for (std::size_t i = 0; i < world.threads.size(); ++i) r.wakeups += world.threads[i].wakeups();
  r.latency = latency_result(answers);
  r.guest_memory_hash = hash_bytes(world.net.guest_bytes());
  r.cores = {sum_of("guest", world.guest_cores), sum_of("worker", world.worker_cores),
             core_result("control", world.control_core), sum_of("readers", world.reader_cores)};
  return r;
}

}  // namespace

RunResult run_stream(const Scenario& scenario, RunControl* control) {
  StreamWorld world(scenario);
  run_world(world, scenario, control);
  return collect(world, scenario);
}

}  // namespace vringlab::sim
