// Requests through a virtqueue: a header, data, a status byte.
#pragma once

#include <optional>
#include <vector>

#include "core/driver/driver_ring.h"
#include "sim/access/model_access.h"
#include "sim/guest/blk_vcpu.h"

namespace vringlab::sim {

struct VirtioPortConfig {
  std::uint32_t segment_bytes = 4096;  // of one descriptor
  std::uint32_t max_segments = 128;    // of a request
  std::uint32_t apic_exits = 0;        // of a processor that halts and is interrupted
  bool acknowledges = false;           // reading the interrupt's cause leaves for user space
};

// `Kick` does what a kick does beyond the guest: kick(core).
template <class Kick>
class VirtioPort {
 public:
  static constexpr bool kVirtual = true;  // its processors are a virtual machine's

  VirtioPort(DriverRing<ModelDriverAccess>& driver, const VirtioPortConfig& config, Kick kick)
      : driver_(&driver), config_(config), kick_(kick), buffers_(config.max_segments + 2) {}

  // For the largest request, in any case.
  bool has_room() const {
    const DriverRingState& state = driver_->state();
    return state.free_count >= (state.indirect ? 1 : config_.max_segments + 2);
  }

  void add(Core& core, const BlkGuestRequest& request) {
    driver_->access().run_on(core);
    write_header(core, request);
    const std::size_t count = list_buffers(request);
    const std::size_t readable = request.op == BlkOp::kRead ? 1 : count - 1;
    const std::span<const Buffer> buffers(buffers_.data(), count);
    (void)driver_->add(buffers.first(readable), buffers.subspan(readable), request.token);
    ++unpublished_;
  }

  // False: there is nothing that the device has not been told of.
  bool publish(Core& core) {
    if (unpublished_ == 0) return false;
    unpublished_ = 0;
    driver_->access().run_on(core);
    driver_->publish();
    if (!driver_->kick_needed()) return true;
    ++kicks_;
    kick_(core);
    return true;
  }

  // `slept`: the processor halted before.
  void begin_interrupt(Core& core, bool slept) {
    if (slept) core.run_times(operation_index(Op::kApicExit), config_.apic_exits);
    if (config_.acknowledges) core.run(operation_index(Op::kGuestKickVmm));
    core.run(operation_index(Op::kGuestInterrupt));
    driver_->access().run_on(core);
    driver_->disable_callback();
  }
  std::optional<std::uint64_t> reap(Core& core) {
    driver_->access().run_on(core);
    const std::optional<Completion> done = driver_->reap();
    if (!done) return std::nullopt;
    return done->token;
  }
  // True: more has completed meanwhile.
  bool end_interrupt(Core& core) {
    driver_->access().run_on(core);
    return driver_->enable_callback();
  }
  // Did the device say so of a request?
  bool failed(const BlkIoSlot& slot, std::uint16_t request) const {
    return slot.memory
               .requests_host[request * BlkMemory::kRequestStride + BlkMemory::kStatusOffset] !=
           std::byte{kBlkStatusOk};
  }

  std::uint64_t kicks() const { return kicks_; }

 private:
  static std::uint32_t type_of(BlkOp op) {
    if (op == BlkOp::kRead) return kBlkIn;
    return op == BlkOp::kWrite ? kBlkOut : kBlkFlush;
  }
  static void write_header(Core& core, const BlkGuestRequest& request) {
    const VirtioBlkReqHdr header{type_of(request.op), 0, request.offset / kSectorBytes};
    core.store(core.line_of(request.header_host), Step::kGuestFill);
    std::memcpy(request.header_host, &header, sizeof(header));
    request.header_host[BlkMemory::kStatusOffset] = std::byte{0xff};
  }
  // Header, data, status byte.
  std::size_t list_buffers(const BlkGuestRequest& request) {
    Buffer* buffer = buffers_.data();
    *buffer++ = {request.header, sizeof(VirtioBlkReqHdr)};
    for (std::uint64_t at = 0; at < request.bytes; at += config_.segment_bytes) {
      *buffer++ = {{request.data.value + at},
                   static_cast<std::uint32_t>(
                       std::min<std::uint64_t>(request.bytes - at, config_.segment_bytes))};
    }
    *buffer++ = {{request.header.value + BlkMemory::kStatusOffset}, 1};
    return static_cast<std::size_t>(buffer - buffers_.data());
  }

  DriverRing<ModelDriverAccess>* driver_;
  VirtioPortConfig config_;
  Kick kick_;
  std::vector<Buffer> buffers_;  // of the request at hand
  std::uint32_t unpublished_ = 0;
  std::uint64_t kicks_ = 0;
};

}  // namespace vringlab::sim
