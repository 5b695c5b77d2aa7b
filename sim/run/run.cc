#include "sim/run/run.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "sim/run/net_tx_world.h"

namespace vringlab::sim {
namespace {

constexpr std::uint64_t kFnvPrime = 0x100000001b3;

std::uint64_t hash_each(std::uint64_t hash, std::span<const std::byte> bytes) {
  for (const std::byte b : bytes) hash = (hash ^ static_cast<std::uint64_t>(b)) * kFnvPrime;
  return hash;
}

// FNV-1a, 64 bit. Guest memory is mostly zero, and a zero byte is a
// multiplication and nothing else: eight of them are one.
std::uint64_t hash_bytes(std::span<const std::byte> bytes) {
  constexpr std::uint64_t kPrime4 = kFnvPrime * kFnvPrime * kFnvPrime * kFnvPrime;
  std::uint64_t hash = 0xcbf29ce484222325;
  std::uint64_t word = 0;
  for (; bytes.size() >= sizeof(word); bytes = bytes.subspan(sizeof(word))) {
    std::memcpy(&word, bytes.data(), sizeof(word));
    hash = word == 0 ? hash * (kPrime4 * kPrime4) : hash_each(hash, bytes.first(sizeof(word)));
  }
  return hash_each(hash, bytes);
}

CoreResult core_result(const char* name, const Core& core) {
  CoreResult result{
      .name = name, .busy_ps = core.busy_ps(), .idle_ps = core.idle_ps(), .ledger = {}};
  const Ledger ledger = core.ledger();
  for (std::size_t step = 0; step < kSteps; ++step) {
    for (std::size_t cost = 0; cost < kCosts; ++cost) {
      const LedgerCell& cell = ledger.at(static_cast<Cost>(cost), static_cast<Step>(step));
      if (cell.ps > 0)
        result.ledger.push_back(
            {static_cast<Cost>(cost), static_cast<Step>(step), cell.ps, cell.count});
    }
  }
  return result;
}

LatencyResult latency_result(const Histogram& h) {
  if (h.total() == 0) return {};
  return {.mean_ps = h.sum() / h.total(),
          .p50_ps = h.quantile_ppm(500000),
          .p90_ps = h.quantile_ppm(900000),
          .p99_ps = h.quantile_ppm(990000),
          .max_ps = h.max()};
}

// A few steps of the dearest costs away from the end of the 64-bit clock.
constexpr std::uint64_t kLastClockPs = std::uint64_t{1} << 62;

void check_clock(const NetTxWorld& world) {
  if (std::max(world.guest_core.now(), world.worker_core.now()) > kLastClockPs)
    throw std::invalid_argument("packets and costs: the run lasts more than 53 simulated days");
}

// Tells the actors what the last step raised.
void deliver(NetTxWorld& world, std::uint64_t start_ps, bool guest_first) {
  const Doorbells raised = world.bells;
  world.bells = {};
  if (raised.used_written) world.guest.used_written(start_ps, guest_first);
  if (raised.kick) world.worker.kicked(raised.kick_ps);
  if (raised.call) world.guest.called(raised.call_ps + world.machine.costs.irq_latency_ps);
}

void report(const NetTxWorld& world, RunControl* control) {
  if (control == nullptr) return;
  control->packets_done.store(world.device.counters().taken, std::memory_order_relaxed);
  if (control->stop.load(std::memory_order_relaxed)) throw Stopped{};
}

void run_world(NetTxWorld& world, const Scenario& s, RunControl* control) {
  Scheduler scheduler(tie_ranks<3>(s.tie_seed), world.guest, world.worker, world.invalidator);
  const bool guest_first = scheduler.first(NetTxWorld::kGuestCore, NetTxWorld::kWorkerCore);
  // A worker whose queue is broken sleeps as well, so one look is enough while it runs.
  scheduler.run(
      [&] { return world.worker.asleep() && (world.worker.broken() || world.guest.done()); },
      [&] { return world.bells.any(); },
      [&](std::size_t, std::uint64_t start_ps) {
        deliver(world, start_ps, guest_first);
        check_clock(world);
        report(world, control);
      });
}

RunResult collect(NetTxWorld& world) {
  RunResult r;
  const NetTxCounters& counters = world.device.counters();
  r.packets = counters.packets;
  r.bytes = counters.bytes;
  r.refused = counters.refused;
  r.dropped = counters.dropped;
  r.batches = counters.batches;
  r.calls = counters.calls;
  r.elapsed_ps = std::max(world.worker_core.now(), world.guest_core.now());
  if (r.elapsed_ps > 0)  // with every cost at zero no time passes, and there is no rate
    r.rate_pps = static_cast<double>(r.packets) * 1e12 / static_cast<double>(r.elapsed_ps);
  r.kicks = world.guest.kicks();
  r.interrupts = world.guest.interrupts();
  r.wakeups = world.worker.wakeups();
  r.inline_packets = world.worker.inline_served();
  r.invalidations = world.invalidator.invalidations();
  r.pinned_bytes = world.mapping.pinned_bytes();
  r.latency = latency_result(world.latency.histogram());
  r.guest_memory_hash = hash_bytes(world.guest_memory());
  r.setup_ps = world.setup_ps;
  const std::uint64_t before = world.control_core.busy_ps();
  world.mapping.tear_down(world.control_core);
  r.teardown_ps = world.control_core.busy_ps() - before;
  r.cores = {core_result("guest", world.guest_core), core_result("worker", world.worker_core),
             core_result("control", world.control_core)};
  return r;
}

}  // namespace

RunResult run(const Scenario& scenario, RunControl* control) {
  check_scenario(scenario);
  NetTxWorld world(scenario);
  run_world(world, scenario, control);
  return collect(world);
}

}  // namespace vringlab::sim
