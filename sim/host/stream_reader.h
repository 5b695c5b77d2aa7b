// The host's end of TCP streams: what arrives is acknowledged every second segment,
// and a process a session reads it on a core of its own.
#pragma once

#include <cmath>
#include <vector>

#include "core/backend/net/xdp_buffer.h"
#include "sim/host/sink.h"
#include "sim/host/tap_ring.h"
#include "sim/machine/group.h"
#include "sim/machine/tcp_wire.h"

namespace vringlab::sim {

class StreamReader {
 public:
  // `answers`: where it puts an answer to all it has read, null for one that only reads.
  StreamReader(Core& core, std::uint16_t session, TapRing* answers, Arrival& answered)
      : core_(&core), session_(session), answers_(answers), answered_(&answered) {}

  Core& core() { return *core_; }
  const Core& core() const { return *core_; }
  bool runnable() const { return awake_; }
  std::uint64_t bytes_read() const { return read_; }

  // Payload arrives on `from`, which wakes a reader that sleeps.
  void arrive(Core& from, std::uint32_t bytes) {
    waiting_ += bytes;
    if (awake_) return;
    awake_ = true;
    from.run(operation_index(Op::kReaderWake));
    core_->idle_until(from.now() + core_->machine().costs.wakeup_ps);
  }

  // One read, as much as there is; then it sleeps if there is no more.
  void step() {
    if (waiting_ == 0) {
      core_->run(operation_index(Op::kStreamSwitch));
      awake_ = false;
      return;
    }
    const std::uint64_t bytes = std::min(waiting_, kReadBytes);
    core_->run(operation_index(Op::kStreamRead));
    const double each = core_->machine().costs.tcp_read_ps_per_byte;
    core_->charge(Cost::kTcpReadBytes, Step::kRead,
                  static_cast<std::uint64_t>(std::llround(each * static_cast<double>(bytes))),
                  bytes);
    waiting_ -= bytes;
    read_ += bytes;
    if (answers_ != nullptr) answer(static_cast<std::uint32_t>(bytes));
  }

 private:
  static constexpr std::uint64_t kReadBytes = 131072;  // of one read: netperf's buffer

  void answer(std::uint32_t bytes) {
    const TcpWord word{session_, bytes};
    if (answers_->put(*core_, kTcpHeaders, word.packed(), {.put = Op::kReply}))
      *answered_ = {true, core_->now()};
  }

  Core* core_;
  std::uint16_t session_;
  TapRing* answers_;
  Arrival* answered_;
  std::uint64_t waiting_ = 0;
  std::uint64_t read_ = 0;
  bool awake_ = false;
};

// Behind the sink: TCP as far as it answers.
class StreamEnd {
 public:
  // `acks`: acknowledges; else an answer does that.
  StreamEnd(Group<StreamReader>& readers, TapRing& tap, Arrival& acked, std::size_t sessions,
            bool acks)
      : readers_(&readers), tap_(&tap), acked_(&acked), unacked_(sessions), acks_(acks) {}

  // RFC 1122 4.2.3.2: an acknowledgement at least every second full-sized segment.
  Fate frame(Core& core, const XdpBuffer& buffer, std::byte*) {
    take(core, TcpWord::from(buffer.frame()));
    return Fate::kGone;
  }

 private:
  struct Unacked {
    std::uint32_t bytes = 0;
    std::uint32_t segments = 0;
  };

  void take(Core& core, TcpWord word) {
    Unacked& session = unacked_[word.session];
    session.bytes += word.bytes;
    session.segments += (word.bytes + kTcpMss - 1) / kTcpMss;
    (*readers_)[word.session].arrive(core, word.bytes);
    if (!acks_ || (session.segments < 2 && word.bytes >= kTcpMss)) return;
    const TcpWord ack{word.session, session.bytes};
    // A full ring drops it; the next one acknowledges these bytes as well.
    if (!tap_->put(core, kTcpHeaders, ack.packed(), {.put = Op::kAckSend})) return;
    session = {};
    *acked_ = {true, core.now()};
  }

  Group<StreamReader>* readers_;
  TapRing* tap_;
  Arrival* acked_;
  std::vector<Unacked> unacked_;
  bool acks_;
};

}  // namespace vringlab::sim
