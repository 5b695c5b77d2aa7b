// How fast the simulator is, with the full ledger and coherence on, and that its
// memory doesn't grow with the number of packets.
#include "sim/run/run.h"

#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace vringlab::sim {
namespace {

constexpr double kGoalMpps = 20;           // simulated packets per microsecond of one core
constexpr double kGoalTimesReal = 3;       // simulated packets per packet of the simulated host
constexpr double kGoalMemoryRatio = 1.05;  // peak memory at 1e8 packets over that at 1e6

Scenario transmit(std::uint64_t packets, bool mapped) {
  Scenario s;
  s.packets = packets;
  s.batch = 64;
  s.plan.map_desc = s.plan.map_avail = s.plan.map_used = mapped;
  return s;
}

void net_tx(benchmark::State& state, bool mapped) {
  const Scenario scenario = transmit(static_cast<std::uint64_t>(state.range(0)), mapped);
  double simulated_pps = 0;
  for (auto _ : state) {
    const RunResult result = run(scenario);
    simulated_pps = result.rate_pps;
    benchmark::DoNotOptimize(result.elapsed_ps);
  }
  const double packets =
      static_cast<double>(state.iterations()) * static_cast<double>(scenario.packets);
  using benchmark::Counter;
  state.counters["Mpps"] = Counter(packets / 1e6, Counter::kIsRate);
  state.counters["times_real"] = Counter(packets / simulated_pps, Counter::kIsRate);
  state.counters["goal_Mpps"] = kGoalMpps;
  state.counters["goal_times_real"] = kGoalTimesReal;
}
BENCHMARK_CAPTURE(net_tx, vmap, true)
    ->Name("net_tx/vmap/batch:64/packets")
    ->Arg(1000000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(net_tx, user, false)
    ->Name("net_tx/user/batch:64/packets")
    ->Arg(1000000)
    ->Unit(benchmark::kMillisecond);

// Frames from a generator into mergeable buffers.
void net_rx(benchmark::State& state) {
  constexpr double kGoalReceivedMpps = 12;
  Scenario scenario;
  scenario.workload = "rx";
  scenario.packets = static_cast<std::uint64_t>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(run(scenario).elapsed_ps);
  const double packets =
      static_cast<double>(state.iterations()) * static_cast<double>(scenario.packets);
  using benchmark::Counter;
  state.counters["Mpps"] = Counter(packets / 1e6, Counter::kIsRate);
  state.counters["goal_Mpps"] = kGoalReceivedMpps;
}
BENCHMARK(net_rx)
    ->Name("net_rx/mergeable/batch:64/packets")
    ->Arg(500000)
    ->Unit(benchmark::kMillisecond);

// The table of 32 cells of TCP streams, before and after batching, at one value of the costs.
void netperf_table(benchmark::State& state) {
  Scenario s;
  s.workload = "stream";
  s.sink = "host_tcp";
  s.guest = "vm";
  s.stream_ms = 5;
  for (auto _ : state) {
    for (const std::uint32_t message : {64, 256, 512, 1024, 2048, 4096, 16384, 65535}) {
      for (const std::uint32_t sessions : {1, 2, 4, 8}) {
        for (const bool batching : {false, true}) {
          s.message_bytes = message;
          s.sessions = sessions;
          s.tx_batching = batching;
          benchmark::DoNotOptimize(run(s).bytes);
        }
      }
    }
  }
  state.counters["goal_s"] = 60;  // with intervals, on two cores
}
BENCHMARK(netperf_table)->Unit(benchmark::kSecond)->Iterations(1);

// Peak resident memory of a process of its own that runs `packets`, in KiB.
long peak_kib(std::uint64_t packets) {
  const pid_t child = fork();
  if (child == 0) {
    benchmark::DoNotOptimize(run(transmit(packets, true)).elapsed_ps);
    _exit(0);
  }
  rusage usage{};
  int status = 0;
  wait4(child, &status, 0, &usage);
  return status == 0 ? usage.ru_maxrss : -1;
}

void net_tx_memory(benchmark::State& state) {
  double ratio = 0;
  for (auto _ : state) {
    const long few = peak_kib(1000000);
    const long many = peak_kib(static_cast<std::uint64_t>(state.range(0)));
    if (few < 0 || many < 0) {
      state.SkipWithError("a run failed");
      break;
    }
    ratio = static_cast<double>(many) / static_cast<double>(few);
    state.counters["peak_KiB"] = static_cast<double>(many);
  }
  state.counters["memory_ratio"] = ratio;
  state.counters["goal_memory_ratio"] = kGoalMemoryRatio;
}
BENCHMARK(net_tx_memory)
    ->ArgName("packets")
    ->Arg(100000000)
    ->Iterations(1)
    ->Unit(benchmark::kSecond);

}  // namespace
}  // namespace vringlab::sim
