// The frames that a guest transmits, taken in turn from a pool.
#pragma once

#include <algorithm>
#include <cstring>

#include "core/driver/driver_ring.h"
#include "core/spec/net.h"
#include "sim/access/model_access.h"
#include "sim/guest/frame_pool.h"

namespace vringlab::sim {

class TxFrames {
 public:
  // `frame_bytes`: without the virtio-net header. `split_header`: that in a descriptor of its own.
  TxFrames(Core& core, const FramePool& pool, std::uint32_t frame_bytes, bool split_header)
      : core_(&core), pool_(pool), frame_bytes_(frame_bytes), split_header_(split_header) {}

  std::uint32_t descriptors() const { return split_header_ ? 2 : 1; }  // of a frame

  // Writes the next frame, with `number` in its first bytes, and says where its header lies.
  GuestAddr fill(std::uint64_t number) {
    const std::uint32_t offset = next_ * pool_.stride + FramePool::kFrameOffset;
    if (++next_ == pool_.count) next_ = 0;
    std::byte* frame = pool_.host + offset;
    clear_header(frame - kHeaderBytes);
    write_frame(frame, number);
    return GuestAddr{pool_.base.value + offset - kHeaderBytes};
  }
  // Room was checked.
  void queue(DriverRing<ModelDriverAccess>& ring, GuestAddr addr, std::uint64_t token) const {
    if (split_header_) return queue_apart(ring, addr, token);
    const Buffer whole[] = {{addr, kHeaderBytes + frame_bytes_}};
    (void)ring.add(whole, {}, token);
  }

 private:
  static constexpr std::uint32_t kHeaderBytes = sizeof(VirtioNetHdr);

  [[gnu::noinline]] void queue_apart(DriverRing<ModelDriverAccess>& ring, GuestAddr addr,
                                     std::uint64_t token) const {
    const Buffer apart[] = {{addr, kHeaderBytes},
                            {GuestAddr{addr.value + kHeaderBytes}, frame_bytes_}};
    (void)ring.add(apart, {}, token);
  }

  // The driver writes the header only where it differs from zero, so its line
  // stays shared once it has been cleared.
  void clear_header(std::byte* header) {
    const LineId line = core_->line_of(header);
    core_->load(line, Step::kGuestFill);
    const VirtioNetHdr zero;
    if (std::memcmp(header, &zero, sizeof(zero)) == 0) return;
    core_->store(line, Step::kGuestFill);
    std::memcpy(header, &zero, sizeof(zero));
  }

  // The protocol headers are written; the rest of the frame stays as it is.
  void write_frame(std::byte* frame, std::uint64_t number) {
    constexpr std::uint32_t kHeaders = 42;  // Ethernet, IPv4, UDP
    const std::uint32_t bytes = std::min(kHeaders, frame_bytes_);
    core_->store_lines(core_->line_of(frame), core_->line_of(frame + bytes - 1), Step::kGuestFill);
    std::memcpy(frame, &number, sizeof(number));
  }

  Core* core_;
  FramePool pool_;
  std::uint32_t frame_bytes_;
  bool split_header_;
  std::uint32_t next_ = 0;
};

}  // namespace vringlab::sim
