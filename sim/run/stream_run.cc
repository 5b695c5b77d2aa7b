#include "sim/run/stream_run.h"

#include <cmath>

#include "sim/machine/scheduler.h"
#include "sim/run/collect.h"
#include "sim/run/stream_world.h"

namespace vringlab::sim {
namespace {

void wake(StreamWorld& world, auto& task, std::uint64_t at_ps) {
  task.queue();
  world.thread.wake(at_ps);
}

// Tells the actors what the last step raised; interrupts go to the first processor.
void deliver(StreamWorld& world) {
  const std::uint64_t heard_ps = world.net.machine.costs.irq_latency_ps;
  const Doorbells tx = std::exchange(world.tx_queue.bells, {});
  const Doorbells rx = std::exchange(world.rx_queue.bells, {});
  const StreamStack::Kicks kicks = world.stack.take_kicks();
  for (const StreamStack::Woken& woken : world.stack.take_woken())
    world.cpu_of(woken.session).woken(woken);
  if (tx.call) world.guest[0].tx_called(tx.call_ps + heard_ps);
  if (rx.call) world.guest[0].rx_called(rx.call_ps + heard_ps);
  if (kicks.tx) wake(world, world.tx_task, kicks.at_ps);
  if (kicks.rx) wake(world, world.rx_task, kicks.at_ps);
  const Arrival acked = std::exchange(world.acked, {});
  if (acked.raised) wake(world, world.rx_task, acked.at_ps);
}

void run_world(StreamWorld& world, const Scenario& s, RunControl* control) {
  const auto end_ps = static_cast<std::uint64_t>(std::llround(s.stream_ms * 1e9));
  Scheduler scheduler(tie_ranks<3>(s.tie_seed), world.guest, world.thread, world.readers);
  scheduler.run([&] { return world.latest_ps() >= end_ps; },
                [&] {
                  return world.tx_queue.bells.call || world.rx_queue.bells.call ||
                         world.stack.kicked() || world.stack.has_woken() || world.acked.raised;
                },
                [&](std::size_t, std::uint64_t) {
                  deliver(world);
                  report(control, world.stack.packets());
                });
}

RunResult collect(StreamWorld& world, const Scenario& s) {
  RunResult r;
  const NetTxCounters& counters = world.tx.counters();
  r.packets = counters.packets;
  for (std::size_t i = 0; i < world.readers.size(); ++i) r.bytes += world.readers[i].bytes_read();
  r.refused = counters.refused;
  r.dropped = counters.dropped;
  r.batches = counters.batches + counters.alone;
  r.alone = counters.alone;
  r.calls = counters.calls + world.rx.counters().calls;
  set_elapsed(r, static_cast<std::uint64_t>(std::llround(s.stream_ms * 1e9)));
  r.kicks = world.stack.kicks();
  for (std::size_t i = 0; i < world.guest.size(); ++i) r.interrupts += world.guest[i].interrupts();
  r.wakeups = world.thread.wakeups();
  r.latency = latency_result(world.stack.answers());
  r.guest_memory_hash = hash_bytes(world.net.guest_bytes());
  collect_mapping(r, world.tx_queue, world.control_core);
  world.rx_queue.mapping.tear_down(world.control_core);
  r.cores = {sum_of("guest", world.guest_cores), core_result("worker", world.worker_core),
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
