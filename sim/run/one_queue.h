// What the runs of one virtqueue between a guest and a worker have in common.
#pragma once

#include <utility>

#include "sim/access/record_bells.h"
#include "sim/run/collect.h"
#include "sim/run/guest_kinds.h"

namespace vringlab::sim {

// Tells guest and worker what the last step raised in the queue.
template <class World>
void deliver_bells(World& world, NetQueue& queue, std::uint64_t start_ps, bool guest_first) {
  const Doorbells raised = std::exchange(queue.bells, {});
  record_bells(raised, world.guest_core, world.worker_core);
  if (raised.used_written) world.guest.used_written(start_ps, guest_first);
  if (raised.kick) world.worker.kicked(raised.kick_ps);
  if (raised.call) world.guest.called(raised.call_ps + world.net.machine.costs.irq_latency_ps);
  if constexpr (Resizable<decltype(world.guest)>) {
    if (raised.resize) world.guest.resize_due(raised.resize_ps);
    if (raised.stopped) world.guest.device_stopped(raised.stopped_ps);
  }
}

// Was an application of the guest woken since this was last cleared? Others have none.
template <class World>
bool app_woke(World& world) {
  if constexpr (HasApp<decltype(world.guest)>) return world.guest.signals().woke;
  return false;
}
template <class World>
void clear_app_woke(World& world) {
  if constexpr (HasApp<decltype(world.guest)>) world.guest.signals() = {};
}

// Fills in what guest, worker and mapping did; ends the mapping. `side`: the device's
// half, with queue and latency.
template <class World>
void collect_queue(RunResult& r, World& world, auto& side) {
  r.kicks = world.guest.kicks();
  r.interrupts = world.guest.interrupts();
  r.wakeups = world.worker.wakeups();
  r.inline_packets = world.worker.inline_served();
  r.invalidations = world.invalidator.invalidations();
  r.latency = latency_result(side.latency.histogram());
  r.guest_memory_hash = hash_bytes(world.net.guest_bytes());
  collect_mapping(r, side.queue, world.control_core);
  r.cores = {core_result("guest", world.guest_core), core_result("worker", world.worker_core),
             core_result("control", world.control_core)};
}

}  // namespace vringlab::sim
