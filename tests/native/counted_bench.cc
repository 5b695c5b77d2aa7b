// Benchmarks whose iterations are known, behind a set-up that is far longer.
#include <benchmark/benchmark.h>

#include <cstdint>

namespace {

std::uint64_t mixed(std::uint64_t value, std::int64_t turns) {
  for (std::int64_t i = 0; i < turns; ++i) {
    value = value * 6364136223846793005u + 1;  // MMIX, Knuth
    benchmark::DoNotOptimize(value);
  }
  return value;
}

void work(benchmark::State& state) {
  std::uint64_t value = mixed(1, 1000000);
  for (auto _ : state) value = mixed(value, state.range(0));
  benchmark::DoNotOptimize(value);
}
BENCHMARK(work)->Arg(1000)->Arg(2000);

}  // namespace
