// Zero-copy AF_XDP through a premapped ring: the driver, with the application and the device beside
// it that do as little as they can.
#include <benchmark/benchmark.h>

#include "core/driver/xsk_rx.h"
#include "core/driver/xsk_tx.h"
#include "core/memory/direct_access.h"
#include "tests/double/offset_dma.h"
#include "tests/double/raw_guest.h"
#include "tests/double/xsk_app.h"

namespace vringlab {
namespace {

using test::OffsetDma;
using test::RawGuest;
using test::RawRing;

constexpr std::uint16_t kRingSize = 256;
constexpr std::uint64_t kUmem = 0x100000;
constexpr std::uint32_t kChunk = 4096;
constexpr std::uint32_t kChunks = 512;
constexpr double kGoalTxNs = 30;  // tx ring to virtqueue to completion ring, one frame
constexpr double kGoalRxNs = 30;  // fill ring to virtqueue to rx ring, one frame

struct Socket {
  OffsetDma dma;
  RawGuest guest{{{0, 0x10000}, {kUmem, kChunk* kChunks}}};
  RawRing queue{guest, kRingSize, feature(kFeatureAccessPlatform)};
  DriverRing<DirectDriverAccess, OffsetDma> ring{
      DirectDriverAccess(queue.areas), queue.config, {}, &dma};
  XskUmem<OffsetDma> umem{dma, {{kUmem}, &guest.byte(kUmem), kChunks, kChunk}};
  test::XskApp app{256};
  std::uint16_t next = 0;

  explicit Socket(benchmark::State& state) {
    if (ring.set_premapped() != RingError::kNone || umem.map() != RingError::kNone)
      state.SkipWithError("not premapped");
  }
  void complete_all(std::uint32_t len) {
    while (next != queue.avail_idx()) queue.complete(queue.avail(next++ & (kRingSize - 1)), len);
  }
};

void report(benchmark::State& state, std::uint64_t frames, double goal_ns) {
  using benchmark::Counter;
  if (frames != static_cast<std::uint64_t>(state.iterations()) * kNapiBudget)
    state.SkipWithError("frames are missing");
  state.counters["goal_ns"] = goal_ns;
  state.counters["ns"] =
      Counter(static_cast<double>(frames) * 1e-9, Counter::kIsRate | Counter::kInvert);
}

void transmit(benchmark::State& state, XskHeader header) {
  Socket s(state);
  XskTx tx(s.ring, s.umem, s.app.tx.areas(), s.app.completion.areas(), {header, {0x8000}});
  if (tx.start() != RingError::kNone) state.SkipWithError("no header");
  std::uint64_t sent = 0;
  for (auto _ : state) {
    for (std::uint64_t i = 0; i < kNapiBudget; ++i) s.app.tx.offer({i * kChunk + 256, 60, 0});
    sent += tx.step().sent;
    s.complete_all(0);
    s.app.completion.consumer = s.app.completion.producer;
  }
  report(state, sent, kGoalTxNs);
}
void driver_xsk_tx_shared_header(benchmark::State& state) { transmit(state, XskHeader::kShared); }
void driver_xsk_tx_headroom(benchmark::State& state) { transmit(state, XskHeader::kHeadroom); }
BENCHMARK(driver_xsk_tx_shared_header);
BENCHMARK(driver_xsk_tx_headroom);

void driver_xsk_rx(benchmark::State& state) {
  Socket s(state);
  XskRx rx(s.ring, s.umem, s.app.fill.areas(), s.app.rx.areas(), kRingSize);
  for (std::uint64_t i = 0; i < kNapiBudget; ++i) s.app.fill.offer(i * kChunk);
  rx.step();
  std::uint64_t received = 0;
  for (auto _ : state) {
    s.complete_all(12 + 60);
    for (std::uint64_t i = 0; i < kNapiBudget; ++i) s.app.fill.offer(i * kChunk);
    received += rx.step().received;
    s.app.rx.consumer = s.app.rx.producer;
  }
  report(state, received, kGoalRxNs);
}
BENCHMARK(driver_xsk_rx);

}  // namespace
}  // namespace vringlab
