#include "core/device/net_rx.h"

#include <benchmark/benchmark.h>

#include <vector>

#include "core/memory/direct_access.h"
#include "tests/double/raw_guest.h"

namespace vringlab {
namespace {

using test::RawGuest;
using test::RawRing;

constexpr double kGoalNs = 1e3 / 12;  // a packet: 12 million a second
constexpr std::uint16_t kRingSize = 256;
constexpr std::uint64_t kData = 0x10000;
constexpr std::uint32_t kBufferBytes = 2048;  // apart from each other, as guest buffers are

// `left` packets of one frame.
struct OneFrame {
  std::vector<std::byte> frame;
  std::size_t left = 0;
  std::size_t released = 0;

  void receive(const RxFrame&) {}
  std::size_t dequeue(std::span<RxFrame> out) {
    const std::size_t count = std::min(out.size(), left);
    const auto bytes = static_cast<std::uint32_t>(frame.size());
    for (RxFrame& packet : out.first(count)) packet = {frame.data(), bytes, {}};
    left -= count;
    return count;
  }
  void release(const RxFrame&) { ++released; }
  bool pending() const { return left > 0; }
};

struct NoCaller {
  void call() {}
};

// As many packets as fill the ring, batch by batch.
void net_rx_full_ring(benchmark::State& state) {
  const auto frame_bytes = static_cast<std::size_t>(state.range(0));
  const auto batch = static_cast<std::uint32_t>(state.range(1));
  RawGuest guest({{0, kData + std::size_t{kRingSize} * kBufferBytes}});
  RawRing ring(guest, kRingSize);
  ring.avail_flags() = kAvailNoInterrupt;
  for (std::uint16_t i = 0; i < kRingSize; ++i) {
    ring.desc(i) = {kData + std::uint64_t{i} * kBufferBytes, kBufferBytes, kDescWrite, 0};
    ring.avail(i) = i;
  }
  OneFrame source{.frame = std::vector<std::byte>(frame_bytes)};
  NoCaller caller;
  const NetRxConfig config{.dequeue_batch = batch,
                           .used_batch = batch,
                           .mergeable = true,
                           .weight = {.packets = kRingSize + 1}};
  NetRx rx(DeviceRing(DirectAccess(ring.areas), DirectPayload(guest.memory()), ring.config), source,
           caller, config, guest.regions());
  for (auto _ : state) {
    store_word(&ring.avail_idx(), static_cast<std::uint16_t>(ring.avail_idx() + kRingSize));
    source.left = kRingSize;
    while (rx.step() == Turn::kPacket) {
    }
  }
  const std::uint64_t packets = static_cast<std::uint64_t>(state.iterations()) * kRingSize;
  if (rx.counters().packets != packets || source.released != packets)
    state.SkipWithError("packets are missing");
  using benchmark::Counter;
  state.counters["goal_ns"] = kGoalNs;
  state.counters["ns"] =
      Counter(static_cast<double>(packets) * 1e-9, Counter::kIsRate | Counter::kInvert);
}
BENCHMARK(net_rx_full_ring)->ArgNames({"bytes", "batch"})->Args({64, 64})->Args({64, 1});

}  // namespace
}  // namespace vringlab
