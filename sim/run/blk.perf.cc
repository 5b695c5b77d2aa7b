// How fast block requests are simulated, with the full ledger and coherence on.
#include <benchmark/benchmark.h>

#include "sim/run/run.h"

namespace vringlab::sim {
namespace {

constexpr double kGoalMiops = 5;      // simulated requests per microsecond of one core
constexpr double kGoalBareMiops = 7;  // without a virtqueue

void blk(benchmark::State& state, const char* form, const char* disk, double goal) {
  Scenario s{.workload = "blk",
             .packets = static_cast<std::uint64_t>(state.range(0)),
             .vcpus = 1,
             .blk = {.form = form, .disk = disk, .queue_depth = 128}};
  for (auto _ : state) benchmark::DoNotOptimize(run(s).elapsed_ps);
  const double ios = static_cast<double>(state.iterations()) * static_cast<double>(s.packets);
  using benchmark::Counter;
  state.counters["Miops"] = Counter(ios / 1e6, Counter::kIsRate);
  state.counters["goal_Miops"] = goal;
}
BENCHMARK_CAPTURE(blk, bio_nvme, "vhost-bio", "nvme", kGoalMiops)
    ->Name("blk/vhost-bio/nvme/block:4096/depth:128/ios")
    ->Arg(500000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(blk, bio_ram, "vhost-bio", "ram", kGoalMiops)
    ->Name("blk/vhost-bio/ram/block:4096/depth:128/ios")
    ->Arg(500000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(blk, host_nvme, "host", "nvme", kGoalBareMiops)
    ->Name("blk/host/nvme/block:4096/depth:128/ios")
    ->Arg(500000)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vringlab::sim
