// The ring of socket buffers that wait in a TAP device for its reader: a generator or
// a network stack puts them in on its core, the vhost worker takes them out on its.
#pragma once

#include <cstring>
#include <utility>

#include "core/backend/net/rx_source.h"
#include "core/backend/net/xdp_buffer.h"
#include "sim/access/model_access.h"
#include "sim/machine/latency.h"

namespace vringlab::sim {

struct TapRingConfig {
  std::uint32_t entries = 500;     // frames that may wait
  std::uint32_t dequeued = 64;     // frames that its reader may hold besides
  std::uint32_t frame_bytes = 64;  // of the longest frame
};

// Frames for the reader have been put into a TAP's ring, the last at that time. The
// run clears it when it has told the reader.
struct Arrival {
  bool raised = false;
  std::uint64_t at_ps = 0;
};

class TapRing {
 public:
  // One cache line holds eight pointers.
  static constexpr std::uint32_t kPointerBytes = 8;
  static constexpr std::uint32_t kSkbBytes = 256;  // the struct in front of the frame
  static constexpr std::uint32_t kSkbLines = 3;    // of it, those that are touched

  static std::uint64_t memory_bytes(const TapRingConfig& config) {
    return ring_bytes(config) + slots(config) * std::uint64_t{slot_bytes(config)};
  }

  // `memory` has memory_bytes(config).
  TapRing(DeviceContext& context, std::span<std::byte> memory, const TapRingConfig& config,
          LatencyLog& latency)
      : context_(&context),
        memory_(memory),
        slots_at_(memory.data() + ring_bytes(config)),
        slot_bytes_(slot_bytes(config)),
        entries_(config.entries),
        slots_(static_cast<std::uint32_t>(slots(config))),
        latency_(&latency) {}

  // What a writer does for a frame, its lines apart; and where the ring is full.
  struct Work {
    Op put = Op::kGenerate;
    Op full = Op::kGenerateFull;
  };
  // The writer's side, on `core`: a frame of `bytes`, at least eight, that begins with
  // `word`; false: the ring is full.
  bool put(Core& core, std::uint32_t bytes, std::uint64_t word, const Work& work) {
    const LineId entry_line = core.line_of(entry(put_));
    core.load(entry_line, Step::kGenerate);  // free, or not?
    if (full()) {
      core.run(operation_index(work.full));
      return false;
    }
    core.run(operation_index(work.put));
    std::byte* skb = slot(put_);
    const LineId line = core.line_of(skb);
    core.store_lines(line, line + kSkbLines - 1, Step::kGenerate);
    write_frame(core, skb + kSkbBytes, bytes, word);
    core.store(entry_line, Step::kGenerate);
    std::memcpy(skb, &bytes, sizeof(bytes));
    latency_->start(core.now());
    advance(put_);
    return true;
  }

  // The reader's side: RxSource.
  std::size_t dequeue(std::span<RxFrame> out) {
    Core& core = *context_->core;
    if (!pending()) {
      core.load(core.line_of(entry(taken_)), Step::kReceive);
      return 0;
    }
    core.run(operation_index(Op::kRxDequeue));
    freed_ = full();
    std::size_t count = 0;
    for (; count < out.size() && pending(); ++count, advance(taken_)) {
      core.run(operation_index(Op::kRxEntry));
      const LineId line = core.line_of(entry(taken_));
      core.load(line, Step::kReceive);
      core.store(line, Step::kReceive);
      std::byte* skb = slot(taken_);
      std::memcpy(&out[count].bytes, skb, sizeof(out[count].bytes));
      out[count].frame = skb + kSkbBytes;
      out[count].header = {};
    }
    return count;
  }
  void receive(const RxFrame& packet) {
    Core& core = *context_->core;
    core.run(operation_index(Op::kReceiveCall));
    const LineId line = core.line_of(packet.frame - kSkbBytes);
    core.load_lines(line, line + kSkbLines - 1, Step::kReceive);
    core.load_lines(core.line_of(packet.frame), core.line_of(packet.frame + packet.bytes - 1),
                    Step::kPayloadCopy);
  }
  void release(const RxFrame& packet) {
    Core& core = *context_->core;
    core.run(operation_index(Op::kReleaseSkb));
    core.store(core.line_of(packet.frame - kSkbBytes), Step::kReceive);
    latency_->finish(core.now());
  }
  bool pending() const { return taken_.count != put_.count; }
  bool full() const { return put_.count - taken_.count == entries_; }
  // Has the reader made room in a full ring? Asked once.
  bool freed() const { return freed_; }
  bool take_freed() { return std::exchange(freed_, false); }

 private:
  static std::uint32_t slot_bytes(const TapRingConfig& c) {
    return kSkbBytes + align_to_line(c.frame_bytes) + kSharedInfoBytes;
  }
  // As many buffers as may be out; each comes back in its turn.
  static std::uint64_t slots(const TapRingConfig& c) {
    return std::uint64_t{c.entries} + c.dequeued + 1;
  }
  static std::uint64_t ring_bytes(const TapRingConfig& c) {
    return align_to_line(c.entries * kPointerBytes);
  }

  // How far a side has come, and where that is: a division a frame would be as dear as
  // a cache miss that is simulated.
  struct Place {
    std::uint64_t count = 0;  // frames so far
    std::uint32_t entry = 0;  // that is the next one's
    std::uint32_t slot = 0;
  };
  void advance(Place& place) const {
    ++place.count;
    if (++place.entry == entries_) place.entry = 0;
    if (++place.slot == slots_) place.slot = 0;
  }

  std::byte* entry(const Place& place) const {
    return memory_.data() + std::size_t{place.entry} * kPointerBytes;
  }
  std::byte* slot(const Place& place) const {
    return slots_at_ + std::size_t{place.slot} * slot_bytes_;
  }

  // The writer fills in the headers.
  void write_frame(Core& core, std::byte* frame, std::uint32_t bytes, std::uint64_t word) const {
    constexpr std::uint32_t kHeaders = 42;  // Ethernet, IPv4, UDP
    const std::uint32_t written = std::min(kHeaders, bytes);
    core.store_lines(core.line_of(frame), core.line_of(frame + written - 1), Step::kGenerate);
    std::memcpy(frame, &word, sizeof(word));
  }

  DeviceContext* context_;
  std::span<std::byte> memory_;
  std::byte* slots_at_;       // where the buffers begin
  std::uint32_t slot_bytes_;  // of one of them
  std::uint32_t entries_;
  std::uint32_t slots_;
  LatencyLog* latency_;
  Place put_;           // the writer's
  Place taken_;         // the reader's
  bool freed_ = false;  // dequeued from a full ring
};
static_assert(RxSource<TapRing>);

}  // namespace vringlab::sim
