#include "core/device/net_tx.h"

#include <benchmark/benchmark.h>

#include <vector>

#include "core/backend/net/page_frag.h"
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

// Gives each buffer back as soon as it is sent.
struct NullSink {
  PageFragPool* pool;

  bool send(std::span<const XdpBuffer> batch) {
    for (const XdpBuffer& buffer : batch) pool->release(buffer.hard_start);
    return true;
  }
  RingError send_alone(DirectPayload&, const LoneFrame&) { return RingError::kFrameTooLong; }
};

struct NoCaller {
  void call() {}
};

// All packets of a full ring, sent batch by batch.
void net_tx_null_sink(benchmark::State& state) {
  const auto frame_bytes = static_cast<std::uint32_t>(state.range(0));
  const auto batch = static_cast<std::uint32_t>(state.range(1));
  RawGuest guest({{0, kData + std::size_t{kRingSize} * kBufferBytes}});
  RawRing ring(guest, kRingSize);
  ring.avail_flags() = kAvailNoInterrupt;
  for (std::uint16_t i = 0; i < kRingSize; ++i) {
    const auto bytes = static_cast<std::uint32_t>(sizeof(VirtioNetHdr)) + frame_bytes;
    ring.desc(i) = {kData + std::uint64_t{i} * kBufferBytes, bytes, 0, 0};
    ring.avail(i) = i;
  }
  std::vector<std::byte> host(std::size_t{64} * kFragChunkBytes);
  PageFragPool pool(host);
  NullSink sink{&pool};
  NoCaller caller;
  const NetTxConfig config{.batch = batch, .weight = {.packets = kRingSize + 1}};
  NetTx tx(DeviceRing(DirectAccess(ring.areas), DirectPayload(guest.memory()), ring.config), pool,
           sink, caller, config, guest.regions());
  for (auto _ : state) {
    store_word(&ring.avail_idx(), static_cast<std::uint16_t>(ring.avail_idx() + kRingSize));
    while (tx.step() == Turn::kPacket) {
    }
  }
  const std::uint64_t packets = static_cast<std::uint64_t>(state.iterations()) * kRingSize;
  if (tx.counters().packets != packets) state.SkipWithError("packets are missing");
  using benchmark::Counter;
  state.counters["goal_ns"] = kGoalNs;
  state.counters["ns"] =
      Counter(static_cast<double>(packets) * 1e-9, Counter::kIsRate | Counter::kInvert);
}
BENCHMARK(net_tx_null_sink)->ArgNames({"bytes", "batch"})->Args({64, 64})->Args({64, 1});

}  // namespace
}  // namespace vringlab
