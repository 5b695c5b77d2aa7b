// What a request takes of the engine on a disk in memory, the copy of its data included. Guest
// buffers and disk together are the working set that each name states; the ring is full of requests
// and each reads or writes a place of its own.
#include "core/device/blk.h"

#include <benchmark/benchmark.h>

#include <vector>

#include "core/backend/blk/memory_store.h"
#include "core/memory/direct_access.h"
#include "tests/double/raw_guest.h"

namespace vringlab {
namespace {

using test::RawGuest;
using test::RawRing;

constexpr double kGoalNs = 1e3 / 5;  // a read of 4 KiB: 5 million a second
constexpr std::uint64_t kHeaders = 0x80000;
constexpr std::uint64_t kStatuses = 0xa0000;
constexpr std::uint64_t kData = 0xc0000;
constexpr std::uint16_t kDescriptors = 3;  // of a request, without an indirect table

struct NoCaller {
  void call() {}
};

// A ring of `requests` with `bytes` each; the disk is as large as their data.
struct FullRing {
  FullRing(std::uint16_t requests, std::uint32_t bytes, std::uint32_t type)
      : count(requests),
        guest({{0, kData + std::size_t{requests} * bytes}}),
        ring(guest, 4u * requests),
        disk(std::size_t{requests} * bytes) {
    ring.avail_flags() = kAvailNoInterrupt;
    const std::uint16_t direction = type == kBlkIn ? kDescWrite : std::uint16_t{0};
    for (std::uint16_t i = 0; i < requests; ++i) {
      const auto head = static_cast<std::uint16_t>(i * kDescriptors);
      const auto next = [&](unsigned n) { return static_cast<std::uint16_t>(head + n); };
      guest.write(kHeaders + 64u * i,
                  VirtioBlkReqHdr{.type = type, .sector = std::uint64_t{i} * bytes / kSectorBytes});
      ring.desc(head) = {kHeaders + 64u * i, sizeof(VirtioBlkReqHdr), kDescNext, next(1)};
      ring.desc(next(1)) = {kData + std::uint64_t{i} * bytes, bytes,
                            static_cast<std::uint16_t>(direction | kDescNext), next(2)};
      ring.desc(next(2)) = {kStatuses + 64u * i, 1, kDescWrite, 0};
    }
    for (std::uint16_t slot = 0; slot < ring.areas.size; ++slot)
      ring.avail(slot) = static_cast<std::uint16_t>(slot % requests * kDescriptors);
  }
  DeviceRing<DirectAccess, DirectPayload> device() {
    return {DirectAccess(ring.areas), DirectPayload(guest.memory()), ring.config};
  }
  void offer_all() {
    store_word(&ring.avail_idx(), static_cast<std::uint16_t>(ring.avail_idx() + count));
  }

  std::uint16_t count;
  RawGuest guest;
  RawRing ring;
  std::vector<std::byte> disk;
};

// All requests of a full ring, published batch by batch.
void serve(benchmark::State& state, std::uint32_t type, double goal_ns) {
  const auto bytes = static_cast<std::uint32_t>(state.range(0));
  const auto used_batch = static_cast<std::uint32_t>(state.range(1));
  const auto requests =
      static_cast<std::uint16_t>(static_cast<std::uint64_t>(state.range(2)) * 1024 / 2 / bytes);
  FullRing full(requests, bytes, type);
  MemoryStore store(full.disk);
  NoCaller caller;
  const BlkConfig config{.disk = {.capacity_sectors = full.disk.size() / kSectorBytes},
                         .used_batch = used_batch,
                         .weight = 65536};
  Blk blk(full.device(), store, caller, config, full.guest.regions());
  for (auto _ : state) {
    full.offer_all();
    while (blk.step() == Turn::kPacket) {
    }
  }
  const std::uint64_t done = static_cast<std::uint64_t>(state.iterations()) * requests;
  if (blk.counters().completed != done || blk.counters().errors != 0)
    state.SkipWithError("requests are missing");
  using benchmark::Counter;
  if (goal_ns > 0) state.counters["goal_ns"] = goal_ns;
  state.counters["ns"] =
      Counter(static_cast<double>(done) * 1e-9, Counter::kIsRate | Counter::kInvert);
}

void blk_read(benchmark::State& state) { serve(state, kBlkIn, kGoalNs); }
void blk_write(benchmark::State& state) { serve(state, kBlkOut, 0); }

// The goal is for 512 KiB, which stay in a second-level cache; 16 MiB do not.
BENCHMARK(blk_read)
    ->ArgNames({"bytes", "used_batch", "working_set_kib"})
    ->Args({4096, 64, 512})
    ->Args({4096, 1, 512})
    ->Args({4096, 8, 512})
    ->Args({4096, 64, 16384})
    ->Args({512, 64, 512});
BENCHMARK(blk_write)
    ->ArgNames({"bytes", "used_batch", "working_set_kib"})
    ->Args({4096, 64, 512})
    ->Args({4096, 1, 512})
    ->Args({4096, 64, 16384})
    ->Args({512, 64, 512});

}  // namespace
}  // namespace vringlab
