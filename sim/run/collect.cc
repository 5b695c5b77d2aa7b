#include "sim/run/collect.h"

#include <cstring>
#include <stdexcept>

#include "sim/machine/recorder.h"

namespace vringlab::sim {

namespace {

constexpr std::uint64_t kFnvPrime = 0x100000001b3;

std::uint64_t hash_each(std::uint64_t hash, std::span<const std::byte> bytes) {
  for (const std::byte b : bytes) hash = (hash ^ static_cast<std::uint64_t>(b)) * kFnvPrime;
  return hash;
}

}  // namespace

// Guest memory is mostly zero, and a zero byte is a multiplication and nothing
// else: eight of them are one.
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

std::vector<LedgerRow> ledger_rows(const Ledger& ledger) {
  std::vector<LedgerRow> rows;
  for (std::size_t step = 0; step < kSteps; ++step) {
    for (std::size_t cost = 0; cost < kCosts; ++cost) {
      const LedgerCell& cell = ledger.at(static_cast<Cost>(cost), static_cast<Step>(step));
      if (cell.ps > 0)
        rows.push_back({static_cast<Cost>(cost), static_cast<Step>(step), cell.ps, cell.count});
    }
  }
  return rows;
}

CoreResult core_result(const char* name, const Core& core) {
  if (Recorder* recorder = Recorder::current()) recorder->finish(core, name);
  return {.name = name,
          .busy_ps = core.busy_ps(),
          .idle_ps = core.idle_ps(),
          .ledger = ledger_rows(core.ledger())};
}

CoreResult sum_of(const char* name, const std::vector<Core*>& cores) {
  Ledger all;
  CoreResult result{.name = name, .busy_ps = 0, .idle_ps = 0, .ledger = {}};
  for (std::size_t i = 0; i < cores.size(); ++i) {
    const Core& core = *cores[i];
    if (Recorder* recorder = Recorder::current())
      recorder->finish(core, std::string(name) + " " + std::to_string(i));
    result.busy_ps += core.busy_ps();
    result.idle_ps += core.idle_ps();
    all.add(core.ledger());
  }
  result.ledger = ledger_rows(all);
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

void set_elapsed(RunResult& r, std::uint64_t elapsed_ps) {
  r.elapsed_ps = elapsed_ps;
  if (elapsed_ps > 0)  // with every cost at zero no time passes, and there is no rate
    r.rate_pps = static_cast<double>(r.packets) * 1e12 / static_cast<double>(elapsed_ps);
}

void collect_mapping(RunResult& r, NetQueue& queue, Core& control) {
  r.pinned_bytes += queue.mapping.pinned_bytes();
  r.setup_ps += queue.setup_ps;
  const std::uint64_t before = control.busy_ps();
  queue.mapping.tear_down(control);
  r.teardown_ps += control.busy_ps() - before;
}

void check_clock(std::uint64_t now_ps) {
  // A few steps of the dearest costs away from the end of the 64-bit clock.
  constexpr std::uint64_t kLastClockPs = std::uint64_t{1} << 62;
  if (now_ps > kLastClockPs)
    throw std::invalid_argument("packets and costs: the run lasts more than 53 simulated days");
}

void report(RunControl* control, std::uint64_t packets_done) {
  if (control == nullptr) return;
  control->packets_done.store(packets_done, std::memory_order_relaxed);
  if (control->stop.load(std::memory_order_relaxed)) throw Stopped{};
}

}  // namespace vringlab::sim
