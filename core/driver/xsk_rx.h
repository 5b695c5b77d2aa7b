// Zero-copy reception of AF_XDP: chunks from the application's fill ring become
// buffers of the virtqueue, and what the device wrote goes to the rx ring.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/driver/driver_ring.h"
#include "core/driver/net_receive.h"
#include "core/driver/xsk_ring.h"
#include "core/driver/xsk_umem.h"
#include "core/memory/order.h"

namespace vringlab {

struct XskRxStep {
  std::uint32_t received = 0;  // frames on the rx ring
  std::uint32_t dropped = 0;   // buffers: too short, a part of a longer frame, no room on the ring
  std::uint32_t refilled = 0;  // chunks added
  std::uint32_t invalid = 0;   // fill entries that name no chunk
  bool kick = false;           // the device wants to know of what was refilled
  bool more = false;           // the budget ended the step: come again
};

// `Ring` is a premapped DriverRing, or one that does not map at all.
template <class Ring, DmaApi Dma, XskMemory Memory = DirectXskMemory>
class XskRx {
 public:
  // `max_ring`: the largest size that the ring will have. Allocates; nothing later does.
  XskRx(Ring& ring, XskUmem<Dma>& umem, const XskRingAreas<std::uint64_t>& fill,
        const XskRingAreas<XdpDesc>& rx, std::uint32_t max_ring, Memory memory = {})
      : ring_(&ring), umem_(&umem), fill_(fill, 0, memory), rx_(rx, 0, memory), memory_(memory) {
    assert(!ring.state().maps || ring.state().premapped);
    spare_.reserve(max_ring);
  }

  // At most `budget` buffers, then chunks for as many as are missing.
  XskRxStep step(std::uint32_t budget = kNapiBudget) {
    XskRxStep result;
    std::uint32_t taken = 0;
    while (taken < budget && receive_one(result)) ++taken;
    result.more = taken == budget;
    end_step(result, budget);
    return result;
  }

  // The same in pieces. One buffer that came back; false: none did.
  bool receive_one(XskRxStep& result) {
    const std::optional<Completion> done = ring_->reap();
    if (!done) return false;
    receive(*done, result);
    return true;
  }
  // What was received becomes visible; chunks for as many as are missing.
  void end_step(XskRxStep& result, std::uint32_t budget = kNapiBudget) {
    rx_.publish();
    refill(budget, result);
    fill_.publish();
    if (result.refilled == 0) return;
    ring_->publish();
    result.kick = ring_->kick_needed();
  }

  // What a reset queue gives back is used again first.
  void recycle(Token token) { keep(token); }
  // A new life of the queue: the frame that was being dropped has no more parts.
  void restart() { parts_to_drop_ = 0; }

  // Chunks that are neither the application's nor in the virtqueue.
  std::size_t spare() const { return spare_.size(); }
  RingError broken() const {
    const RingError error = fill_.state().broken;
    return error != RingError::kNone ? error : rx_.state().broken;
  }

 private:
  static constexpr std::uint32_t kHeader = sizeof(VirtioNetHdr);

  // No more chunks are taken from the fill ring than the virtqueue has room for,
  // and spare ones go first: there are never more of them than the ring is long.
  void keep(std::uint64_t chunk) {
    assert(spare_.size() < spare_.capacity());
    spare_.push_back(chunk);
  }

  void receive(const Completion& done, XskRxStep& result) {
    const std::uint64_t chunk = done.token;
    const std::uint64_t frame = chunk + umem_->config().headroom;
    if (!is_frame(chunk, done.written_bytes) || !rx_.has_room(1)) {
      keep(chunk);
      ++result.dropped;
      return;
    }
    rx_.put({frame, done.written_bytes - kHeader, 0});
    ++result.received;
  }
  // A whole frame in one buffer. The parts of a longer one are all dropped.
  bool is_frame(std::uint64_t chunk, std::uint32_t written) {
    if (parts_to_drop_ > 0) {
      --parts_to_drop_;
      return false;
    }
    if (written < kHeader + kEthernetHeaderBytes) return false;
    const std::uint64_t at = chunk + umem_->config().headroom - kHeader;
    umem_->sync_for_cpu(at, written);
    // Read once: the application may write it too.
    const std::uint16_t parts = memory_.read_word(reinterpret_cast<const std::uint16_t*>(
        umem_->host(at) + offsetof(VirtioNetHdr, num_buffers)));
    if (parts <= 1) return true;
    parts_to_drop_ = parts - 1u;
    return false;
  }

  // Looks at `budget` entries of the fill ring at most.
  void refill(std::uint32_t budget, XskRxStep& result) {
    while (ring_->state().free_count > 0 && ring_->state().broken == RingError::kNone) {
      std::optional<std::uint64_t> chunk = take_spare();
      if (!chunk) {
        if (budget-- == 0) return;
        const std::optional<std::uint64_t> addr = fill_.take();
        if (!addr) return;
        chunk = umem_->chunk_of(*addr);
        if (!chunk) {
          ++result.invalid;
          continue;
        }
      }
      if (!add(*chunk)) return keep(*chunk);
      ++result.refilled;
    }
  }
  std::optional<std::uint64_t> take_spare() {
    if (spare_.empty()) return std::nullopt;
    const std::uint64_t chunk = spare_.back();
    spare_.pop_back();
    return chunk;
  }
  bool add(std::uint64_t chunk) {
    const XskUmemConfig& umem = umem_->config();
    const std::uint64_t at = chunk + umem.headroom - kHeader;
    const std::uint32_t len = umem.chunk_bytes - umem.headroom + kHeader;
    umem_->sync_for_device(at, len);
    const Buffer buffer{{umem_->device(at).value}, len};
    return ring_->add({}, {&buffer, 1}, chunk).ok();
  }

  Ring* ring_;
  XskUmem<Dma>* umem_;
  XskConsumer<std::uint64_t, Memory> fill_;
  XskProducer<XdpDesc, Memory> rx_;
  [[no_unique_address]] Memory memory_;
  std::vector<std::uint64_t> spare_;  // chunks that came back without a frame
  std::uint32_t parts_to_drop_ = 0;   // buffers to come that belong to a frame dropped
};

}  // namespace vringlab
