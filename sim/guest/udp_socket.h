// A UDP socket of a guest and the process that reads it, on a virtual processor of its own.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/driver/net_receive.h"
#include "sim/guest/process_sleep.h"

namespace vringlab::sim {

struct UdpSocketConfig {
  std::uint64_t packets = 0;               // to read in all
  std::uint32_t receive_buffer_bytes = 0;  // that may wait, by what their memory takes
};

// What a receive path leaves packets in. `Buffers`: see RxBuffers.
template <class Buffers>
class UdpSocket {
 public:
  using Config = UdpSocketConfig;
  static constexpr bool kIsRead = true;
  static constexpr std::uint32_t kSkbBytes = 256;  // of a socket buffer without its data
  static constexpr std::size_t kForgetPackets = 256;

  UdpSocket(Core& core, Buffers& buffers, const std::byte* guest, const UdpSocketConfig& config)
      : core_(&core), buffers_(&buffers), guest_(guest), config_(config), sleep_(core, signals_) {}

  Core& core() { return *core_; }
  const Core& core() const { return *core_; }
  bool runnable() const { return !done() && !sleep_.asleep(); }
  bool done() const { return packets_ >= config_.packets; }
  std::uint64_t packets() const { return packets_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t dropped() const { return dropped_; }
  std::uint64_t step_ps() const { return step_ps_; }  // when the last step began
  Signals& signals() { return signals_; }

  // From the softirq on `from`. False: no room, and the pieces stay the caller's.
  bool packet(Core& from, std::span<const RxPiece> pieces) {
    from.run(operation_index(Op::kNapiToSocket));
    const std::uint32_t memory = memory_of(pieces);
    if (held_bytes_ > 0 && held_bytes_ + memory > config_.receive_buffer_bytes) {
      ++dropped_;
      return false;
    }
    held_bytes_ += memory;
    waiting_.insert(waiting_.end(), pieces.begin(), pieces.end());
    ends_.push_back(waiting_.size());
    sleep_.wake(from);
    return true;
  }

  // Reads at most one packet; sleeps when there is none.
  void step() {
    step_ps_ = core_->now();
    if (next_ == ends_.size()) return sleep_.sleep(Op::kBlockingCall);
    const std::span<const RxPiece> pieces(waiting_.data() + begin_, ends_[next_] - begin_);
    read(pieces);
    held_bytes_ -= memory_of(pieces);
    for (const RxPiece& piece : pieces) buffers_->release(piece.token);
    begin_ = ends_[next_++];
    ++packets_;
    if (next_ >= kForgetPackets) forget_read();
  }

 private:
  std::uint32_t memory_of(std::span<const RxPiece> pieces) const {
    std::uint32_t bytes = kSkbBytes;
    for (const RxPiece& piece : pieces) bytes += buffers_->length(piece.token);
    return bytes;
  }
  void read(std::span<const RxPiece> pieces) {
    core_->run(operation_index(Op::kUdpRead));
    for (const RxPiece& piece : pieces) {
      const std::byte* at = guest_ + piece.addr.value;
      bytes_ += piece.len;
      if (piece.len == 0) continue;
      core_->load_lines(core_->line_of(at), core_->line_of(at + piece.len - 1), Step::kGuestApp);
      core_->copy_bytes(piece.len, Step::kGuestApp);
    }
    core_->run(operation_index(Op::kSocketApp));
  }
  // Now and then, so that memory doesn't grow with the packets read.
  void forget_read() {
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(begin_));
    ends_.erase(ends_.begin(), ends_.begin() + static_cast<std::ptrdiff_t>(next_));
    for (std::size_t& end : ends_) end -= begin_;
    begin_ = next_ = 0;
  }

  Core* core_;
  Buffers* buffers_;
  const std::byte* guest_;
  UdpSocketConfig config_;
  Signals signals_;
  ProcessSleep sleep_;
  std::vector<RxPiece> waiting_;   // pieces of all packets that wait, and of those read before them
  std::vector<std::size_t> ends_;  // of each packet, in waiting_
  std::size_t next_ = 0;           // packet to read
  std::size_t begin_ = 0;          // its first piece
  std::uint32_t held_bytes_ = 0;
  std::uint64_t packets_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t step_ps_ = 0;
};

}  // namespace vringlab::sim
