// What copying and lending take of the engine, by the length of the frame. Lending takes the
// same time whatever the length. Its chains become free one by one, so each turn publishes
// (used_batch 1, as vhost-net does) and pays a barrier for the call decision; a batch of copies
// pays it once in 64. That is more than a copy of some 256 bytes takes, so shorter frames are
// better copied: see copy with a batch of 1 and zero-copy with a used_batch of 64 for the two
// effects apart. On plain memory no page is pinned and no completion interrupts: the figures
// of lending are lower bounds.
#include "core/device/net_tx_zerocopy.h"

#include <benchmark/benchmark.h>

#include <array>
#include <vector>

#include "core/backend/net/page_frag.h"
#include "core/device/net_tx.h"
#include "core/memory/direct_access.h"
#include "tests/double/raw_guest.h"

namespace vringlab {
namespace {

using benchmark::Counter;
using test::RawGuest;
using test::RawRing;

constexpr std::uint16_t kRingSize = 256;
constexpr std::uint64_t kData = 0x10000;
constexpr std::size_t kMaxPieces = 17;  // fragments of a socket buffer

struct NoCaller {
  void call() {}
};

// A ring full of frames of one length, each in a buffer of its own.
struct FullRing {
  explicit FullRing(std::uint32_t frame_bytes)
      : stride((frame_bytes + sizeof(VirtioNetHdr) + 2047) / 2048 * 2048),
        guest({{0, kData + std::size_t{kRingSize} * stride}}),
        ring(guest, kRingSize) {
    ring.avail_flags() = kAvailNoInterrupt;
    for (std::uint16_t i = 0; i < kRingSize; ++i) {
      const auto bytes = static_cast<std::uint32_t>(sizeof(VirtioNetHdr)) + frame_bytes;
      ring.desc(i) = {kData + std::uint64_t{i} * stride, bytes, 0, 0};
      ring.avail(i) = i;
    }
  }
  DeviceRing<DirectAccess, DirectPayload> device() {
    return {DirectAccess(ring.areas), DirectPayload(guest.memory()), ring.config};
  }
  void offer_all() {
    store_word(&ring.avail_idx(), static_cast<std::uint16_t>(ring.avail_idx() + kRingSize));
  }

  std::size_t stride;
  RawGuest guest;
  RawRing ring;
};

// Noinline, as a socket is another module.
struct CopySink {
  PageFragPool* pool;

  [[gnu::noinline]] bool send(std::span<const XdpBuffer> batch) {
    for (const XdpBuffer& buffer : batch) pool->release(buffer.hard_start);
    return true;
  }
  [[gnu::noinline]] RingError send_alone(DirectPayload& payload, const LoneFrame& lone) {
    const std::uint32_t bytes = align_to_line(kXdpPadBytes + lone.request.frame_bytes);
    const XdpBuffer buffer{pool->allocate(bytes), kXdpPadBytes, lone.request.frame_bytes};
    const RingError error = copy_frame(payload, lone.chain, lone.request, buffer);
    pool->release(buffer.hard_start);
    return error;
  }
};

// Keeps what a transmit ring of a card would: pieces by slot, completed in order kLag
// frames later.
struct LendingSink {
  static constexpr std::uint32_t kLag = 32;
  struct Frame {
    VirtioNetHdr header;
    std::array<Piece, kMaxPieces> pieces;
    std::size_t count;
    std::uint16_t slot;
  };
  std::vector<Frame> frames = std::vector<Frame>(kRingSize);
  std::uint32_t head = 0, tail = 0;  // run free

  RingError send_alone(DirectPayload&, const LoneFrame&) { return RingError::kFrameTooLong; }
  [[gnu::noinline]] RingError send_borrowed(DirectPayload&, const LoneFrame& lone,
                                            const VirtioNetHdr& header, std::uint16_t slot) {
    Frame& frame = frames[head++ % kRingSize];
    frame.header = header;
    frame.count = frame_pieces(lone, frame.pieces);
    frame.slot = slot;
    return RingError::kNone;
  }
  std::uint32_t out() const { return head - tail; }
  std::uint16_t oldest() { return frames[tail++ % kRingSize].slot; }
};

void report(benchmark::State& state, std::uint64_t packets) {
  if (packets != static_cast<std::uint64_t>(state.iterations()) * kRingSize)
    state.SkipWithError("packets are missing");
  state.counters["ns"] =
      Counter(static_cast<double>(packets) * 1e-9, Counter::kIsRate | Counter::kInvert);
}

// As vhost-net without zero-copy: copied, `batch` frames at once; alone above a page.
void net_tx_copy_batch(benchmark::State& state) {
  FullRing full(static_cast<std::uint32_t>(state.range(0)));
  std::vector<std::byte> host(std::size_t{64} * kFragChunkBytes);
  PageFragPool pool(host);
  CopySink sink{&pool};
  NoCaller caller;
  const auto batch = static_cast<std::uint32_t>(state.range(1));
  NetTx tx(full.device(), pool, sink, caller,
           {.batch = batch, .weight = {.packets = kRingSize + 1, .bytes = UINT32_MAX}}, 1);
  for (auto _ : state) {
    full.offer_all();
    while (tx.step() == Turn::kPacket) {
    }
  }
  report(state, tx.counters().packets);
}
BENCHMARK(net_tx_copy_batch)
    ->ArgNames({"bytes", "batch"})
    ->ArgsProduct({{64, 256, 1514, 16384}, {1, 64}});

// Every frame lent, short ones too.
void net_tx_zerocopy(benchmark::State& state) {
  FullRing full(static_cast<std::uint32_t>(state.range(0)));
  LendingSink sink;
  NoCaller caller;
  NetTxZeroCopy tx(full.device(), sink, caller,
                   {.zerocopy_min_bytes = 0,
                    .used_batch = static_cast<std::uint32_t>(state.range(1)),
                    .weight = {.packets = kRingSize + 1, .bytes = UINT32_MAX}},
                   1);
  for (auto _ : state) {
    full.offer_all();
    while (tx.step() == Turn::kPacket)
      if (sink.out() > LendingSink::kLag) tx.complete(sink.oldest(), false);
    while (sink.out() > 0) tx.complete(sink.oldest(), false);
    tx.finish();
  }
  report(state, tx.counters().borrowed);
}
BENCHMARK(net_tx_zerocopy)
    ->ArgNames({"bytes", "used_batch"})
    ->ArgsProduct({{64, 256, 1514, 16384}, {1, 64}});

}  // namespace
}  // namespace vringlab
