// The receive loop with each way to map its buffers, on a DMA api that costs next to nothing: what
// is left is the counting itself.
#include "core/driver/net_receive.h"

#include <benchmark/benchmark.h>

#include "core/memory/direct_access.h"
#include "tests/double/offset_dma.h"
#include "tests/double/raw_guest.h"

namespace vringlab {
namespace {

using test::OffsetDma;
using test::RawGuest;
using test::RawRing;

constexpr std::uint16_t kRingSize = 256;
constexpr std::uint64_t kData = 0x100000;
constexpr std::uint32_t kFragments = 64;
constexpr double kGoalNs = 40;  // refill, device's write of a header, reap of one packet

template <class Buffers>
struct Release {
  Buffers* buffers;
  void packet(const VirtioNetHdr&, std::span<const RxPiece> pieces) {
    for (const RxPiece& piece : pieces) buffers->release(piece.token);
  }
};

template <class Mapping>
void receive(benchmark::State& state) {
  const auto packet_bytes = static_cast<std::uint32_t>(state.range(0));
  OffsetDma dma;
  RawGuest guest({{0, 0x10000}, {kData, kFragments * 32768}});
  RawRing queue(guest, kRingSize, feature(kFeatureAccessPlatform));
  DriverRing<DirectDriverAccess, OffsetDma> ring(DirectDriverAccess(queue.areas), queue.config, {},
                                                 &dma);
  if (ring.set_premapped() != RingError::kNone) state.SkipWithError("not premapped");
  RxBuffers<Mapping> buffers(dma, {{kData}, kFragments, 32768, {}});
  Release<RxBuffers<Mapping>> stack{&buffers};
  NetReceive loop(ring, buffers, &guest.byte(kData), stack);
  loop.refill();
  std::uint16_t next = 0;
  std::uint64_t packets = 0;
  for (auto _ : state) {
    for (std::uint32_t i = 0; i < kNapiBudget; ++i)
      queue.complete(queue.avail(next++ & (kRingSize - 1)), 12 + packet_bytes);
    packets += loop.poll().packets;
  }
  const auto expected = static_cast<std::uint64_t>(state.iterations()) * kNapiBudget;
  if (packets != expected) state.SkipWithError("packets are missing");
  using benchmark::Counter;
  const auto total = static_cast<double>(packets);
  state.counters["goal_ns"] = kGoalNs;
  state.counters["maps"] = static_cast<double>(dma.maps) / total;
  state.counters["syncs"] = static_cast<double>(dma.syncs) / total;
  state.counters["ns"] = Counter(total * 1e-9, Counter::kIsRate | Counter::kInvert);
}
BENCHMARK_TEMPLATE(receive, MapPerFragment<OffsetDma>)
    ->Name("driver_receive_map_per_fragment")
    ->ArgName("bytes")
    ->Arg(60)
    ->Arg(1500);
BENCHMARK_TEMPLATE(receive, MapPerBuffer<OffsetDma>)
    ->Name("driver_receive_map_per_buffer")
    ->ArgName("bytes")
    ->Arg(60)
    ->Arg(1500);

}  // namespace
}  // namespace vringlab
