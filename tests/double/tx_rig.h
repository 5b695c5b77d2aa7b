// A transmit queue on plain memory with a host that keeps what it is sent.
#pragma once

#include <vector>

#include "core/backend/net/page_frag.h"
#include "core/device/net_tx.h"
#include "core/memory/direct_access.h"
#include "tests/double/counting_caller.h"
#include "tests/double/raw_guest.h"

namespace vringlab::test {

// A frame as it left the queue.
struct SentFrame {
  VirtioNetHdr header;
  std::vector<std::byte> bytes;
};

// Keeps each frame and gives its buffer back; or refuses whole batches.
struct KeepingSink {
  PageFragPool* pool;
  bool refuses = false;
  std::vector<SentFrame> frames;
  std::vector<std::size_t> batches;  // size of each batch offered

  bool send(std::span<const XdpBuffer> batch) {
    batches.push_back(batch.size());
    if (refuses) return false;
    for (const XdpBuffer& buffer : batch) {
      frames.push_back(
          {buffer.meta().header, {buffer.frame(), buffer.frame() + buffer.frame_bytes}});
      pool->release(buffer.hard_start);
    }
    return true;
  }

  std::vector<bool> more;                    // the hint that came with each frame sent alone
  RingError alone_error = RingError::kNone;  // what becomes of frames sent alone

  template <PayloadAccess P>
  RingError send_alone(P& payload, const LoneFrame& lone) {
    if (alone_error != RingError::kNone) return alone_error;
    const TxRequest& request = lone.request;
    const std::uint32_t bytes = align_to_line(kXdpPadBytes + request.frame_bytes);
    if (bytes > kFragChunkBytes) return RingError::kFrameTooLong;
    const XdpBuffer buffer{pool->allocate(bytes), kXdpPadBytes, request.frame_bytes};
    if (buffer.hard_start == nullptr) return RingError::kNoBuffer;
    const RingError error = copy_frame(payload, lone.chain, request, buffer);
    pool->release(buffer.hard_start);
    if (error != RingError::kNone) return error;
    frames.push_back({buffer.meta().header, {buffer.frame(), buffer.frame() + buffer.frame_bytes}});
    batches.push_back(1);
    more.push_back(lone.more);
    return RingError::kNone;
  }
};
static_assert(TxSink<KeepingSink, DirectPayload>);

struct TxRig {
  using Tx = NetTx<DirectAccess, DirectPayload, PageFragPool, KeepingSink, CountingCaller>;

  RawGuest guest;
  RawRing ring;
  std::vector<std::byte> host = std::vector<std::byte>(128 * kFragChunkBytes);
  PageFragPool pool{host};
  KeepingSink sink{.pool = &pool, .refuses = false, .frames = {}, .batches = {}};
  CountingCaller caller;
  Tx tx;

  TxRig(const std::vector<RegionSpec>& regions, const QueueConfig& config,
        const NetTxConfig& options)
      : guest(regions),
        ring(guest, config),
        tx({DirectAccess(ring.areas), DirectPayload(guest.memory()), config}, pool, sink, caller,
           options, regions.size()) {}
  explicit TxRig(std::uint32_t size, const NetTxConfig& options = {}, std::uint64_t features = 0)
      : TxRig({{0, 0x20000}}, packed_ring(size, features), options) {}

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
};

}  // namespace vringlab::test
