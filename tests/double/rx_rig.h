// A receive queue on plain memory, and a socket that tests put packets into.
#pragma once

#include <deque>
#include <vector>

#include "core/device/net_rx.h"
#include "core/memory/direct_access.h"
#include "tests/double/counting_caller.h"
#include "tests/double/raw_guest.h"

namespace vringlab::test {

// Bytes that differ from their neighbours, as RawGuest::fill writes them.
inline std::vector<std::byte> pattern(std::size_t bytes, unsigned first = 1) {
  std::vector<std::byte> values(bytes);
  for (std::size_t i = 0; i < bytes; ++i) values[i] = std::byte((first + i) % 251);
  return values;
}

// Packets stay in memory to the end, and are counted in and out.
struct PacketQueue {
  bool fails = false;                         // dequeue finds nothing, whatever is pending
  std::deque<std::vector<std::byte>> memory;  // of the frames
  std::deque<RxFrame> waiting;
  std::vector<std::size_t> batches;  // size of each batch taken
  std::size_t outstanding = 0;       // dequeued, not yet released

  // `count` packets of one frame, a pattern that starts at `first`.
  void put(std::uint32_t bytes, unsigned first = 1, std::size_t count = 1) {
    const std::byte* frame = memory.emplace_back(pattern(bytes, first)).data();
    VirtioNetHdr header{.flags = kNetHdrNeedsCsum, .hdr_len = 54, .csum_start = 34};
    header.num_buffers = 0xeeee;  // not the socket's to say
    waiting.insert(waiting.end(), count, {frame, bytes, header});
  }

  void receive(const RxFrame&) {}
  std::size_t dequeue(std::span<RxFrame> out) {
    if (fails) return 0;
    const std::size_t count = std::min(out.size(), waiting.size());
    std::copy_n(waiting.begin(), count, out.begin());
    waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(count));
    if (count > 0) batches.push_back(count);
    outstanding += count;
    return count;
  }
  void release(const RxFrame&) { --outstanding; }
  bool pending() const { return !waiting.empty(); }
};
static_assert(RxSource<PacketQueue>);

struct RxRig {
  RawGuest guest;
  RawRing ring;
  PacketQueue socket;
  CountingCaller caller;
  NetRx<DirectAccess, DirectPayload, PacketQueue, CountingCaller> rx;

  RxRig(const std::vector<RegionSpec>& regions, const QueueConfig& config,
        const NetRxConfig& options)
      : guest(regions),
        ring(guest, config),
        rx({DirectAccess(ring.areas), DirectPayload(guest.memory()), config}, socket, caller,
           options, regions.size()) {}
  explicit RxRig(std::uint32_t size, const NetRxConfig& options = {}, std::uint64_t features = 0)
      : RxRig({{0, 0x40000}}, packed_ring(size, features), options) {}

  // Offers a buffer of one descriptor.
  void offer(std::uint16_t head, std::uint64_t addr, std::uint32_t bytes) {
    ring.desc(head) = {addr, bytes, kDescWrite, 0};
    ring.offer(head);
  }
  // Offers `count` buffers of one size side by side, heads from 0 on.
  void offer_row(std::uint16_t count, std::uint64_t addr, std::uint32_t bytes) {
    for (std::uint16_t i = 0; i < count; ++i) offer(i, addr + std::uint64_t{i} * bytes, bytes);
  }
  // Runs until the loop says why it stops.
  Turn run() {
    for (;;) {
      const Turn turn = rx.step();
      if (turn != Turn::kPacket) return turn;
    }
  }
  std::vector<std::byte> bytes_at(std::uint64_t addr, std::size_t bytes) {
    std::vector<std::byte> values(bytes);
    for (std::size_t i = 0; i < bytes; ++i) values[i] = guest.byte(addr + i);
    return values;
  }
  VirtioNetHdr header_at(std::uint64_t addr) {
    VirtioNetHdr header;
    const auto bytes = bytes_at(addr, sizeof(header));
    std::memcpy(&header, bytes.data(), sizeof(header));
    return header;
  }
};

}  // namespace vringlab::test
