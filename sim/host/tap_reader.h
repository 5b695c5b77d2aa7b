// A process that reads frames which a program has sent back out of a TAP device: takes
// them out of the TAP's ring on a core of its own and frees them.
#pragma once

#include <vector>

#include "core/backend/net/xdp_buffer.h"
#include "sim/host/frags.h"
#include "sim/host/sink.h"

namespace vringlab::sim {

class TapReader {
 public:
  static constexpr std::uint32_t kPointerBytes = 8;

  static std::uint64_t memory_bytes(std::uint32_t entries) {
    return align_to_line(entries * kPointerBytes);
  }

  // `memory`: of the ring's `entries` pointers.
  TapReader(Core& core, std::span<std::byte> memory, std::uint32_t entries, ModelFrags& frags)
      : core_(&core), memory_(memory), frags_(&frags), waiting_(entries) {}

  Core& core() { return *core_; }
  const Core& core() const { return *core_; }
  bool runnable() const { return awake_; }
  std::uint64_t read() const { return taken_; }
  // Was it woken since this was last asked?
  bool woken() const { return woken_; }
  void clear_woken() { woken_ = false; }

  // A frame from `from`, which wakes a reader that sleeps; `memory` is what to free, if
  // anything. False: the ring is full.
  bool put(Core& from, const XdpBuffer& frame, std::byte* memory) {
    const LineId entry = entry_line(put_);
    from.load(entry, Step::kSend);  // free, or not?
    if (put_ - taken_ == waiting_.size()) return false;
    from.store(entry, Step::kSend);
    waiting_[put_++ % waiting_.size()] = {frame, memory};
    if (!awake_) wake(from);
    return true;
  }

  // One read; it sleeps when there is nothing more.
  void step() {
    if (put_ == taken_) {
      core_->load(entry_line(taken_), Step::kRead);
      core_->run(operation_index(Op::kStreamSwitch));
      awake_ = false;
      return;
    }
    core_->run(operation_index(Op::kSinkRead));
    const LineId entry = entry_line(taken_);
    core_->load(entry, Step::kRead);
    core_->store(entry, Step::kRead);
    const Waiting next = waiting_[taken_++ % waiting_.size()];
    copy_to_user(next.frame);
    if (next.memory != nullptr) frags_->release_uncharged(next.memory);
  }

 private:
  struct Waiting {
    XdpBuffer frame;
    std::byte* memory = nullptr;
  };

  LineId entry_line(std::uint64_t n) const {
    return core_->line_of(memory_.data() + n % waiting_.size() * kPointerBytes);
  }

  void wake(Core& from) {
    awake_ = woken_ = true;
    from.run(operation_index(Op::kReaderWake));
    core_->idle_until(from.now() + core_->machine().costs.wakeup_ps);
  }

  // Into the same buffer each time, which stays in L1.
  void copy_to_user(const XdpBuffer& frame) {
    constexpr std::size_t kCopy = operation_index(Op::kPayloadCopy);
    core_->load(core_->line_of(frame.hard_start), Step::kRead);
    core_->begin(kCopy);
    core_->load_lines(core_->line_of(frame.frame()),
                      core_->line_of(frame.frame() + frame.frame_bytes - 1), Step::kPayloadCopy);
    core_->copy_bytes(frame.frame_bytes, Step::kPayloadCopy);
    core_->end(kCopy);
  }

  Core* core_;
  std::span<std::byte> memory_;
  ModelFrags* frags_;
  std::vector<Waiting> waiting_;  // in a ring
  std::uint64_t put_ = 0;         // frames put in so far
  std::uint64_t taken_ = 0;       // of them, read
  bool awake_ = false;
  bool woken_ = false;
};

// Behind a sink of tx: frames go to the reader, where there is one.
struct ToReader {
  TapReader* reader = nullptr;

  Fate frame(Core& core, const XdpBuffer& frame, std::byte* memory) const {
    if (reader == nullptr) return Fate::kGone;
    return reader->put(core, frame, memory) ? Fate::kKept : Fate::kLost;
  }
};

}  // namespace vringlab::sim
