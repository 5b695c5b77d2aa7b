// The socket that a transmit queue sends to, of whatever kind: takes frames, in
// batches or one a call, and the time that its kind says.
#pragma once

#include <vector>

#include "core/backend/net/tx_copy.h"
#include "core/backend/net/tx_sink.h"
#include "sim/host/frags.h"
#include "sim/host/sink_kind.h"
#include "sim/machine/latency.h"

namespace vringlab::sim {

// A NIC behind the sink that sends at a rate of its own and drops what it has no
// room for.
class NicRate {
 public:
  // `period_ps` a frame, 0: sends at once; `slots`: frames that may wait.
  NicRate(std::uint64_t period_ps, std::uint32_t slots) : period_ps_(period_ps), slots_(slots) {}

  // A frame at `now_ps`; false: dropped.
  bool take(std::uint64_t now_ps) {
    if (period_ps_ == 0) return true;
    free_ps_ = std::max(free_ps_, now_ps);
    if (free_ps_ - now_ps > period_ps_ * slots_) return false;
    free_ps_ += period_ps_;
    return true;
  }

 private:
  std::uint64_t period_ps_;
  std::uint32_t slots_;
  std::uint64_t free_ps_ = 0;  // when the last waiting frame will be sent
};

// Memory for socket buffers of frames that are sent alone, used in turn: as many as
// may be held behind the sink, and two.
class SkbMemory {
 public:
  // What `held` frames of at most `frame_bytes` need.
  static std::uint64_t memory_bytes(std::uint32_t frame_bytes, std::uint32_t held) {
    return std::uint64_t{held + 2} * slot_bytes(frame_bytes);
  }

  SkbMemory(std::span<std::byte> memory, std::uint32_t frame_bytes, std::uint32_t held)
      : memory_(memory), slot_bytes_(slot_bytes(frame_bytes)), slots_(held + 2) {}

  std::byte* next() {
    if (++at_ == slots_) at_ = 0;
    return memory_.data() + std::size_t{at_} * slot_bytes_;
  }

 private:
  // An odd number of lines, so that slots spread over the sets of a cache.
  static std::uint32_t slot_bytes(std::uint32_t frame_bytes) {
    const std::uint32_t bytes =
        align_to_line(xdp_frame_offset(true) + frame_bytes) + kSharedInfoBytes;
    return bytes / kCacheLineBytes % 2 == 1 ? bytes : bytes + kCacheLineBytes;
  }

  std::span<std::byte> memory_;
  std::uint32_t slot_bytes_;
  std::uint32_t slots_;
  std::uint32_t at_ = 0;
};

// What becomes of a frame behind the sink.
enum class Fate : std::uint8_t {
  kGone,  // it has left, and its memory is the sink's to free
  kKept,  // who keeps it frees its memory
  kLost   // no room
};

// Where frames end that nobody looks at.
struct Nowhere {
  Fate frame(Core&, const XdpBuffer&, std::byte*) { return Fate::kGone; }
};

// `Behind` is given each frame that leaves, as behind.frame(core, buffer, memory), where
// memory is what has to be freed, null if nothing, and says what becomes of it.
template <class Behind>
class ModelSink {
 public:
  ModelSink(const SinkKind& kind, DeviceContext& context, ModelFrags& frags, SkbMemory skbs,
            NicRate nic, LatencyLog& latency, Behind behind = {})
      : behind_(behind),
        kind_(&kind),
        context_(&context),
        frags_(&frags),
        skbs_(skbs),
        nic_(nic),
        latency_(&latency),
        held_(kind.held) {}

  bool send(std::span<const XdpBuffer> batch) {
    Core& core = *context_->core;
    core.run(operation_index(Op::kSendCall));
    for (const XdpBuffer& buffer : batch) {
      core.load(core.line_of(buffer.hard_start), Step::kSend);
      core.run(operation_index(Op::kSinkFrame));
      pass_on(core, buffer, buffer.hard_start);
    }
    core.run(operation_index(Op::kSinkFlush));
    return true;
  }

  // A socket with a program builds even a lone frame in a page fragment, if it fits.
  template <PayloadAccess P>
  RingError send_alone(P& payload, const LoneFrame& lone) {
    Core& core = *context_->core;
    core.run(operation_index(Op::kSendCall));
    const std::uint32_t bytes = kind_->program ? lone.request.buffer_bytes : 0;
    std::byte* memory = bytes != 0 ? frags_->allocate(bytes) : allocate_skb(core, lone.request);
    if (memory == nullptr) return RingError::kNoBuffer;
    const XdpBuffer buffer{memory, xdp_frame_offset(kind_->program), lone.request.frame_bytes};
    const RingError error = copy_frame(payload, lone.chain, lone.request, buffer);
    if (error != RingError::kNone) {
      if (bytes != 0) frags_->release(memory);
      return error;
    }
    core.run(operation_index(Op::kSinkLone));
    pass_on(core, buffer, bytes != 0 ? memory : nullptr);
    core.run(operation_index(Op::kSinkFlush));
    return RingError::kNone;
  }

  // A frame that stays in guest memory until the NIC has sent it: the pages are pinned,
  // and only the headers are read here.
  template <PayloadAccess P>
  RingError send_borrowed(P&, const LoneFrame& lone, const VirtioNetHdr&, std::uint16_t slot) {
    Core& core = *context_->core;
    core.run(operation_index(Op::kSendCall));
    core.run(operation_index(Op::kLendFrame));
    core.store(core.line_of(skbs_.next()), Step::kBuild);
    lend_pages(core, lone);
    core.run(operation_index(Op::kSinkLone));
    core.run(operation_index(Op::kSinkFlush));
    if (!nic_.take(core.now())) ++dropped_;
    latency_->finish(core.now());
    behind_.lent(core, slot);
    return RingError::kNone;
  }

  // Frames that what is behind the sink had no room for.
  std::uint64_t dropped() const { return dropped_; }

 private:
  void lend_pages(Core& core, const LoneFrame& lone) {
    constexpr std::uint32_t kHeaders = 128;  // pulled into the socket buffer
    std::uint64_t pages = 0;
    for (const Piece& piece : lone.chain.readable()) {
      const std::uint64_t at = core.offset_of(piece.host);
      pages += (at + piece.len - 1) / kPageBytes - at / kPageBytes + 1;
      const std::uint32_t read = std::min(kHeaders, piece.len);
      core.load_lines(core.line_of(piece.host), core.line_of(piece.host + read - 1), Step::kBuild);
    }
    for (; pages > 0; --pages) core.run(operation_index(Op::kLendPage));
  }

  // The order-3 allocations of a frame that has no linear buffer of its own.
  static constexpr std::uint32_t kPagesBytes = 32768;

  std::byte* allocate_skb(Core& core, const TxRequest& request) {
    core.run(operation_index(Op::kAllocateSkb));
    if (request.frame_bytes > kPageBytes) {
      const std::uint64_t pages = (request.frame_bytes + kPagesBytes - 1) / kPagesBytes;
      core.charge(Cost::kPageAlloc, Step::kBuild, core.machine().costs[Cost::kPageAlloc] * pages,
                  pages);
    }
    std::byte* memory = skbs_.next();
    core.store(core.line_of(memory), Step::kBuild);
    return memory;
  }

  // The frame leaves; what is behind the sink may hold its buffer for a while.
  void pass_on(Core& core, const XdpBuffer& frame, std::byte* memory) {
    const Fate fate = behind_.frame(core, frame, memory);
    if (fate == Fate::kLost) return lose(core, memory);
    if (fate == Fate::kGone && !nic_.take(core.now())) ++dropped_;
    latency_->finish(core.now());
    if (memory == nullptr || fate == Fate::kKept) return;
    if (!held_.empty()) {
      std::swap(memory, held_[next_held_]);
      if (++next_held_ == held_.size()) next_held_ = 0;
    }
    if (memory != nullptr) frags_->release_uncharged(memory);
  }
  void lose(Core& core, std::byte* memory) {
    ++dropped_;
    core.run(operation_index(Op::kReleaseFrame));
    latency_->finish(core.now());
    if (memory != nullptr) frags_->release_uncharged(memory);
  }

  static constexpr std::uint32_t kPageBytes = 4096;

  Behind behind_;
  const SinkKind* kind_;
  DeviceContext* context_;
  ModelFrags* frags_;
  SkbMemory skbs_;
  NicRate nic_;
  LatencyLog* latency_;
  std::vector<std::byte*> held_;  // buffers not yet freed, in a ring
  std::size_t next_held_ = 0;
  std::uint64_t dropped_ = 0;
};
static_assert(TxSink<ModelSink<Nowhere>, ModelPayload>);

}  // namespace vringlab::sim
