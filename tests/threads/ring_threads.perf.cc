// Two threads on two cores pass buffers round and round, both polling, in the
// manner of the kernel's tools/virtio/ringtest.
#include <benchmark/benchmark.h>
#include <pthread.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/double/ring_pair.h"

namespace vringlab {
namespace {

using test::RingPair;

constexpr double kGoalNs = 120;  // a buffer, there and back
constexpr std::uint16_t kRingSize = 256;
constexpr std::uint32_t kBuffers = 10'000'000;

// Ties the calling thread to the n-th of the processors that it may use.
void pin(int n) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof(allowed), &allowed);
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || n-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
    return;
  }
}

// Adds up to `batch` buffers, publishes them, then reaps up to as many.
void drive(RingPair& pair, std::uint32_t batch) {
  const Buffer buffer{{RingPair::kData}, 64};
  std::uint32_t sent = 0;
  for (std::uint32_t reaped = 0; reaped < kBuffers;) {
    const std::uint32_t before = sent;
    while (sent - before < batch && sent < kBuffers && pair.driver.add({&buffer, 1}, {}, 0).ok())
      ++sent;
    if (sent != before) pair.driver.publish();
    for (std::uint32_t i = 0; i < batch && pair.driver.reap(); ++i) ++reaped;
  }
}

// Completes up to `batch` buffers before each publish.
void serve(RingPair& pair, std::uint32_t batch) {
  std::array<Piece, kRingSize> room;
  Chain chain{.room = room};
  RingError error = RingError::kNone;
  for (std::uint32_t served = 0; served < kBuffers;) {
    std::uint32_t taken = 0;
    for (; taken < batch && pair.device.next_chain(chain, error) == Fetch::kHead; ++taken)
      pair.device.push_used(chain.head, 0);
    pair.device.flush_used();
    served += taken;
  }
}

void ring_two_threads(benchmark::State& state) {
  const auto publish = static_cast<std::uint32_t>(state.range(2));
  const auto flush = static_cast<std::uint32_t>(state.range(3));
  double seconds = 0;
  for (auto _ : state) {
    RingPair pair(kRingSize);
    std::atomic<bool> ready = false;
    std::thread device([&] {
      pin(1);
      ready = true;
      serve(pair, flush);
    });
    while (!ready) std::this_thread::yield();
    const auto start = std::chrono::steady_clock::now();
    std::thread driver([&] {
      pin(0);
      drive(pair, publish);
    });
    driver.join();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    device.join();
    state.SetIterationTime(took.count());
    seconds += took.count();
  }
  state.counters["goal_ns"] = kGoalNs;
  state.counters["ns"] = seconds * 1e9 / (static_cast<double>(state.iterations()) * kBuffers);
}
// Each buffer on its own, as ringtest does; the device publishing what it has
// found at once, as vhost does; both halves in batches.
BENCHMARK(ring_two_threads)
    ->ArgNames({"ring", "buffers", "publish", "flush"})
    ->Args({kRingSize, kBuffers, 1, 1})
    ->Args({kRingSize, kBuffers, 1, 32})
    ->Args({kRingSize, kBuffers, 32, 32})
    ->UseManualTime()
    ->Iterations(1)
    ->Repetitions(5)
    ->ReportAggregatesOnly();

}  // namespace
}  // namespace vringlab
