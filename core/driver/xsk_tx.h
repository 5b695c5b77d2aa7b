// Zero-copy transmission of AF_XDP: what the application puts on its tx ring goes
// to the device where it lies, and its address comes back on the completion ring.
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "core/driver/driver_ring.h"
#include "core/driver/net_receive.h"
#include "core/driver/xsk_ring.h"
#include "core/driver/xsk_umem.h"

namespace vringlab {

// Where the virtio-net header of a frame lies. It asks for nothing: all zeros. In
// the headroom the application can write it after us, and ask the device itself.
enum class XskHeader : std::uint8_t {
  kShared,   // one for all frames: two descriptors a frame
  kHeadroom  // in front of the frame in its chunk, if there is room: one descriptor
};

struct XskTxConfig {
  XskHeader header = XskHeader::kShared;
  GuestAddr shared_header;                            // zeros that nobody writes
  std::uint32_t header_bytes = sizeof(VirtioNetHdr);  // as negotiated, at most this
};

struct XskTxStep {
  std::uint32_t sent = 0;       // frames added
  std::uint32_t completed = 0;  // addresses given back
  std::uint32_t invalid = 0;    // descriptors that name no frame: skipped, not given back
  bool kick = false;            // the device wants to know
  bool more = false;            // the budget ended the step: come again
};

struct XskTxState {
  std::uint32_t in_flight = 0;     // frames at the device: each has room on the completion ring
  std::optional<XdpDesc> waiting;  // taken and checked, could not be added
  std::optional<DmaAddr> header;   // the shared header, mapped
};

// `Ring` is a premapped DriverRing, or one that does not map at all.
template <class Ring, DmaApi Dma, XskMemory Memory = DirectXskMemory>
class XskTx {
 public:
  XskTx(Ring& ring, XskUmem<Dma>& umem, const XskRingAreas<XdpDesc>& tx,
        const XskRingAreas<std::uint64_t>& completion, const XskTxConfig& config,
        Memory memory = {})
      : ring_(&ring),
        umem_(&umem),
        tx_(tx, 0, memory),
        completion_(completion, 0, memory),
        config_(config),
        memory_(memory) {
    assert(!ring.state().maps || ring.state().premapped);
    assert(config.header_bytes <= sizeof(VirtioNetHdr));
  }

  // Before the first step, and after the last: nothing is in flight.
  RingError start() {
    const Result<DmaAddr> header =
        umem_->dma().map(config_.shared_header, config_.header_bytes, DmaDirection::kToDevice);
    if (header.ok()) state_.header = header.value();
    return header.error();
  }
  void stop() {
    if (state_.waiting && completion_.has_room(1)) completion_.put(state_.waiting->addr);
    state_.waiting.reset();
    completion_.publish();
    if (!state_.header) return;
    umem_->dma().unmap(*state_.header, config_.header_bytes, DmaDirection::kToDevice);
    state_.header.reset();
  }

  XskTxStep step(std::uint32_t budget = kNapiBudget) {
    XskTxStep result;
    while (complete_one(result)) {
    }
    std::uint32_t taken = 0;
    while (taken < budget && send_one(result)) ++taken;
    result.more = taken == budget;
    end_step(result);
    return result;
  }

  // The same in pieces. One frame that the device is done with; false: no more, and the
  // application may have those that were.
  bool complete_one(XskTxStep& result) {
    const std::optional<Completion> done = ring_->reap();
    if (!done) {
      completion_.publish();
      return false;
    }
    complete(done->token);
    ++result.completed;
    return true;
  }
  // One descriptor of the application; false: none is there, or no room for it.
  bool send_one(XskTxStep& result) {
    if (!has_descriptors() || lacks_completion_room()) return false;
    const std::optional<XdpDesc> desc = next();
    if (!desc) return false;
    if (!umem_->is_frame(*desc)) {
      ++result.invalid;
      return true;
    }
    if (!add(*desc)) {
      state_.waiting = desc;
      return false;
    }
    ++state_.in_flight;
    ++result.sent;
    return true;
  }
  // What was taken and added becomes visible.
  void end_step(XskTxStep& result) {
    tx_.publish();
    if (result.sent == 0) return;
    ring_->publish();
    result.kick = ring_->kick_needed();
  }

  // Can nothing more be taken before the application collects what was completed?
  bool lacks_completion_room() { return !completion_.has_room(state_.in_flight + 1); }

  // What a reset queue gives back was not sent, and is the application's again.
  void recycle(Token token) {
    complete(token);
    completion_.publish();
  }

  const XskTxState& state() const { return state_; }
  RingError broken() const {
    const RingError error = tx_.state().broken;
    return error != RingError::kNone ? error : completion_.state().broken;
  }

 private:
  // Room was made sure of before the frame was taken. An application that broke
  // the ring since then gets nothing more.
  void complete(std::uint64_t addr) {
    --state_.in_flight;
    if (completion_.state().broken == RingError::kNone) completion_.put(addr);
  }

  // Two descriptors, for any chain; one where it can be a table.
  bool has_descriptors() const {
    const DriverRingState& ring = ring_->state();
    return ring.broken == RingError::kNone && ring.free_count >= (ring.indirect ? 1 : 2);
  }
  std::optional<XdpDesc> next() {
    if (!state_.waiting) return tx_.take();
    return std::exchange(state_.waiting, std::nullopt);
  }

  bool add(const XdpDesc& desc) {
    if (config_.header == XskHeader::kHeadroom &&
        umem_->offset_in_chunk(desc.addr) >= config_.header_bytes)
      return add_with_headroom(desc);
    umem_->sync_for_device(desc.addr, desc.len);
    const std::array chain = {Buffer{{state_.header->value}, config_.header_bytes},
                              Buffer{{umem_->device(desc.addr).value}, desc.len}};
    return ring_->add(chain, {}, desc.addr).ok();
  }
  bool add_with_headroom(const XdpDesc& desc) {
    const std::uint64_t addr = desc.addr - config_.header_bytes;
    const std::uint32_t len = desc.len + config_.header_bytes;
    memory_.clear(umem_->host(addr), config_.header_bytes);
    umem_->sync_for_device(addr, len);
    const Buffer whole{{umem_->device(addr).value}, len};
    return ring_->add({&whole, 1}, {}, desc.addr).ok();
  }

  Ring* ring_;
  XskUmem<Dma>* umem_;
  XskConsumer<XdpDesc, Memory> tx_;
  XskProducer<std::uint64_t, Memory> completion_;
  XskTxConfig config_;
  [[no_unique_address]] Memory memory_;
  XskTxState state_;
};

}  // namespace vringlab
