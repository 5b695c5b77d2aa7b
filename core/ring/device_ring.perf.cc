#include "core/ring/device_ring.h"

#include <benchmark/benchmark.h>

#include <array>

#include "tests/double/ring_pair.h"

namespace vringlab {
namespace {

using test::RingPair;

constexpr std::uint16_t kRingSize = 256;
constexpr double kGoalBothHalvesNs = 30;  // add, fetch, walk, used, reap of one chain
constexpr double kGoalDeviceNs = 12;      // fetch, walk, used of one chain

void report(benchmark::State& state, std::int64_t chains, double goal_ns) {
  using benchmark::Counter;
  state.counters["goal_ns"] = goal_ns;
  state.counters["ns"] =
      Counter(static_cast<double>(chains) * 1e-9, Counter::kIsRate | Counter::kInvert);
}

// Fetches and completes all that is available, publishes once.
template <class Device>
void serve(Device& device, Chain& chain) {
  RingError error = RingError::kNone;
  while (device.next_chain(chain, error) == Fetch::kHead) {
    benchmark::DoNotOptimize(chain.readable()[0].host);
    device.push_used(chain.head, 0);
  }
  device.flush_used();
}

void ring_both_halves_one_descriptor(benchmark::State& state) {
  const auto batch = static_cast<std::uint16_t>(state.range(0));
  RingPair pair(kRingSize);
  std::array<Piece, kRingSize> room;
  Chain chain{.room = room};
  const Buffer buffer{{RingPair::kData}, 64};
  std::uint64_t reaped = 0;
  for (auto _ : state) {
    for (std::uint16_t i = 0; i < batch; ++i)
      benchmark::DoNotOptimize(pair.driver.add({&buffer, 1}, {}, i));
    pair.driver.publish();
    serve(pair.device, chain);
    while (pair.driver.reap()) ++reaped;
  }
  if (reaped != static_cast<std::uint64_t>(state.iterations()) * batch)
    state.SkipWithError("chains are missing");
  report(state, state.iterations() * batch, kGoalBothHalvesNs);
}
BENCHMARK(ring_both_halves_one_descriptor)->ArgName("batch")->Arg(1)->Arg(32);

// The device alone: the same chains again and again, only avail.idx moves.
void ring_device_one_descriptor(benchmark::State& state) {
  const auto batch = static_cast<std::uint16_t>(state.range(0));
  RingPair pair(kRingSize);
  for (std::uint16_t i = 0; i < kRingSize; ++i) {
    pair.ring.desc(i) = {RingPair::kData + i * 64u, 64, 0, 0};
    pair.ring.avail(i) = i;
  }
  std::array<Piece, kRingSize> room;
  Chain chain{.room = room};
  std::uint16_t avail = 0;
  for (auto _ : state) {
    avail = static_cast<std::uint16_t>(avail + batch);
    store_word(&pair.ring.avail_idx(), avail);
    serve(pair.device, chain);
  }
  if (pair.ring.used_idx() != avail) state.SkipWithError("chains are missing");
  report(state, state.iterations() * batch, kGoalDeviceNs);
}
BENCHMARK(ring_device_one_descriptor)->ArgName("batch")->Arg(1)->Arg(64);

}  // namespace
}  // namespace vringlab
