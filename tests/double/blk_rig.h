// A block queue on memory of some kind, plain if nothing else is said. Each head has buffers of its
// own.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/device/blk.h"
#include "core/memory/direct_access.h"
#include "tests/double/blk_chains.h"
#include "tests/double/counting_caller.h"

namespace vringlab::test {

inline constexpr std::byte kNoStatus{0xee};  // stands where a status is to be written

// One request as a driver thinks of it.
struct BlkAsk {
  std::uint32_t type = kBlkIn;
  std::uint64_t sector = 0;
  std::uint32_t in_bytes = 0;       // to read
  std::vector<std::byte> out = {};  // to write, or segments
  BlkShape shape = BlkShape::kPlain;
  bool indirect = false;
};

inline BlkAsk ask_read(std::uint64_t sector, std::uint32_t bytes) {
  return {.type = kBlkIn, .sector = sector, .in_bytes = bytes};
}
inline BlkAsk ask_write(std::uint64_t sector, std::vector<std::byte> data) {
  return {.type = kBlkOut, .sector = sector, .out = std::move(data)};
}
inline BlkAsk ask_flush() { return {.type = kBlkFlush}; }
inline BlkAsk ask_segments(std::uint32_t type, const std::vector<VirtioBlkSegment>& segments) {
  const auto bytes = std::as_bytes(std::span(segments));
  return {.type = type, .out = {bytes.begin(), bytes.end()}};
}

inline std::vector<std::byte> blk_pattern(std::size_t bytes, unsigned first = 1) {
  std::vector<std::byte> values(bytes);
  for (std::size_t i = 0; i < bytes; ++i) values[i] = RawGuest::pattern(first + i);
  return values;
}

struct BlkPlaces {
  static constexpr std::uint64_t kTables = 0x4000;
  static constexpr std::uint64_t kBuffers = 0x10000;
  static constexpr std::uint64_t kStride = 0x2000;  // between the buffers of two heads
  // Two regions that meet inside the buffers of the second head in the grid.
  static constexpr std::uint64_t kSeam = kBuffers + 8 * kStride + 0x110;
  static constexpr std::uint64_t kEnd = kBuffers + 64 * kStride;
};

struct PlainBlkGuest : RawGuest {
  using Access = DirectAccess;
  using Payload = DirectPayload;

  PlainBlkGuest()
      : RawGuest({{0, BlkPlaces::kSeam}, {BlkPlaces::kSeam, BlkPlaces::kEnd - BlkPlaces::kSeam}}) {}
  Access access(const RingAreas& areas) { return Access(areas); }
  Payload payload() { return Payload(memory()); }
};

template <class S, class Guest = PlainBlkGuest>
struct BlkRig : BlkPlaces {
  Guest guest;
  RawRing ring;
  CountingCaller caller;
  Blk<typename Guest::Access, typename Guest::Payload, S, CountingCaller> blk;

  BlkRig(S& store, const BlkConfig& config, std::uint32_t size = 64, std::uint64_t features = 0,
         Guest where = {})
      : guest(std::move(where)),
        ring(guest.memory(), packed_ring(size, features | kIndirect)),
        blk({guest.access(ring.areas), guest.payload(), ring.config}, store, caller, config,
            guest.regions()) {}

  static BlkBuffers buffers(std::uint16_t head, const BlkAsk& ask) {
    return {kBuffers + head * kStride, static_cast<std::uint32_t>(ask.out.size()), ask.in_bytes};
  }

  // Writes a request into the buffers of `head` and offers it.
  void offer(std::uint16_t head, const BlkAsk& ask) {
    const BlkBuffers at = buffers(head, ask);
    guest.write(at.addr, VirtioBlkReqHdr{.type = ask.type, .sector = ask.sector});
    put(at.data(), ask.out);
    put(at.data(), std::vector<std::byte>(ask.in_bytes));
    guest.byte(at.status()) = kNoStatus;
    const std::vector<Desc> chain = blk_chain(at, ask.shape);
    if (ask.indirect) {
      put_indirect(guest, ring, head, kTables + std::uint64_t{head} * 0x100, chain);
    } else {
      put_chain(ring, head, chain);
    }
    ring.offer(head);
  }

  void put(std::uint64_t addr, std::span<const std::byte> bytes) {
    each_piece(addr, bytes.size(), [&](const Piece& piece) {
      std::copy_n(bytes.begin(), piece.len, piece.host);
      bytes = bytes.subspan(piece.len);
    });
  }
  std::vector<std::byte> bytes_at(std::uint64_t addr, std::size_t bytes) {
    std::vector<std::byte> values;
    each_piece(addr, bytes, [&](const Piece& piece) {
      values.insert(values.end(), piece.host, piece.host + piece.len);
    });
    return values;
  }
  // What a request brought: 0xee is no status yet.
  int status(std::uint16_t head, const BlkAsk& ask) {
    return std::to_integer<int>(guest.byte(buffers(head, ask).status()));
  }
  std::vector<std::byte> data(std::uint16_t head, const BlkAsk& ask) {
    return bytes_at(buffers(head, ask).data(), ask.in_bytes);
  }

  // Runs until the loop says why it stops.
  Turn run() {
    for (;;) {
      const Turn turn = blk.step();
      if (turn != Turn::kPacket) return turn;
    }
  }

 private:
  // Calls one(piece) for each region that a buffer lies in.
  template <class F>
  void each_piece(std::uint64_t addr, std::size_t bytes, F one) {
    Piece pieces[2];
    const auto count = guest.memory().translate({addr}, static_cast<std::uint32_t>(bytes), pieces);
    if (!count.ok()) std::abort();
    for (const Piece& piece : std::span(pieces).first(count.value())) one(piece);
  }
};

}  // namespace vringlab::test
