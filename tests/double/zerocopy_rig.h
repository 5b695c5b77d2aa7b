// A zero-copy transmit queue on plain memory, with a host that completes borrowed frames
// when and in which order a test says.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "core/device/net_tx_zerocopy.h"
#include "core/memory/direct_access.h"
#include "tests/double/counting_caller.h"
#include "tests/double/raw_guest.h"

namespace vringlab::test {

// A frame as the sink got it. A borrowed one keeps its pieces, and the bytes they held.
struct TakenFrame {
  bool borrowed;
  std::uint16_t slot;  // if borrowed
  VirtioNetHdr header;
  std::vector<std::byte> bytes;
  std::vector<Piece> pieces;  // if borrowed
  bool more;

  // What the pieces hold now.
  std::vector<std::byte> read() const {
    std::vector<std::byte> now;
    for (const Piece& piece : pieces) now.insert(now.end(), piece.host, piece.host + piece.len);
    return now;
  }
};

struct BorrowingSink {
  std::vector<TakenFrame> frames;                // in the order they came
  RingError alone_error = RingError::kNone;      // what becomes of frames to be copied
  RingError borrowed_error = RingError::kNone;   // and of frames to be borrowed
  std::function<void(std::uint16_t)> on_borrow;  // called with the slot, before it returns

  template <PayloadAccess P>
  RingError send_alone(P& payload, const LoneFrame& lone) {
    if (alone_error != RingError::kNone) return alone_error;
    TakenFrame frame{.borrowed = false, .slot = 0, .header = {}, .bytes = {}, .pieces = {}};
    frame.more = lone.more;
    const RingError error = copy_header(payload, lone.chain, lone.request, frame.header);
    if (error != RingError::kNone) return error;
    frame.bytes.resize(lone.request.frame_bytes);
    gather(payload, Transfer::kPayload, frame.bytes.data(), lone.request.frame_bytes,
           lone.chain.readable(), lone.request.header_bytes);
    frames.push_back(std::move(frame));
    return RingError::kNone;
  }

  template <PayloadAccess P>
  RingError send_borrowed(P&, const LoneFrame& lone, const VirtioNetHdr& header,
                          std::uint16_t slot) {
    if (borrowed_error != RingError::kNone) return borrowed_error;
    TakenFrame frame{.borrowed = true, .slot = slot, .header = header, .bytes = {}, .pieces = {}};
    frame.more = lone.more;
    frame.pieces.resize(lone.chain.readable_count);
    frame.pieces.resize(frame_pieces(lone, frame.pieces));
    frame.bytes = frame.read();
    frames.push_back(std::move(frame));
    if (on_borrow) on_borrow(slot);
    return RingError::kNone;
  }

  std::size_t borrowed() const {
    return static_cast<std::size_t>(std::ranges::count_if(frames, &TakenFrame::borrowed));
  }
};
static_assert(ZeroCopySink<BorrowingSink, DirectPayload>);

struct ZeroCopyRig {
  using Tx = NetTxZeroCopy<DirectAccess, DirectPayload, BorrowingSink, CountingCaller>;

  RawGuest guest;
  RawRing ring;
  BorrowingSink sink;
  CountingCaller caller;
  Tx tx;

  ZeroCopyRig(const std::vector<RegionSpec>& regions, const QueueConfig& config,
              const NetTxZeroCopyConfig& options)
      : guest(regions),
        ring(guest, config),
        tx({DirectAccess(ring.areas), DirectPayload(guest.memory()), config}, sink, caller, options,
           regions.size()) {}
  explicit ZeroCopyRig(std::uint32_t size, const NetTxZeroCopyConfig& options = {},
                       std::uint64_t features = 0)
      : ZeroCopyRig({{0, 0x40000}}, packed_ring(size, features), options) {}

  // Offers a packet of one descriptor, header included.
  void offer(std::uint16_t head, std::uint64_t addr, std::uint32_t bytes) {
    ring.desc(head) = {addr, bytes, 0, 0};
    ring.offer(head);
  }
  // Runs until the loop says why it stops.
  Turn run() {
    for (;;) {
      const Turn turn = tx.step();
      if (turn != Turn::kPacket) return turn;
    }
  }
  // Heads in the used ring from `first` on; each must have length 0.
  std::vector<std::uint32_t> returned(std::uint16_t first = 0) {
    std::vector<std::uint32_t> heads;
    for (std::uint16_t i = first; i != ring.used_idx(); ++i) {
      const UsedElem& elem = ring.used(i & ring.areas.mask());
      heads.push_back(elem.len == 0 ? elem.id : UINT32_MAX);
    }
    return heads;
  }
};

}  // namespace vringlab::test
