// A guest whose processes write into TCP sockets: one session each, on a few virtual
// processors, through one or more pairs of a transmit and a receive queue. What the stack does with
// the writes is what makes packets small or large:
//
//   - whole segments are sent as soon as there are any, up to 64 KiB in one packet;
//   - less than a segment waits while anything is unacknowledged (RFC 1122 4.2.3.4);
//   - while the driver's queue has no room, packets wait in a queueing discipline,
//     a limited number of bytes a session; what is written beyond piles up and leaves
//     as larger packets.
#pragma once

#include <cmath>
#include <cstring>
#include <deque>
#include <vector>

#include "core/driver/driver_ring.h"
#include "core/spec/net.h"
#include "sim/access/model_access.h"
#include "sim/guest/frame_pool.h"
#include "sim/machine/latency.h"
#include "sim/machine/tcp_wire.h"

namespace vringlab::sim {

struct StreamConfig {
  std::uint32_t message_bytes = 16384;  // of one write
  std::uint64_t send_buffer = 65536;    // bytes a session may have unsent and unacknowledged
  std::uint32_t rx_buffer_bytes = 2048;
  bool requests = false;  // each write waits until all of it is answered
};

// What the sessions of a queue pair share: stack, driver and both queues.
class StreamStack {
 public:
  struct Session {
    std::uint64_t unsent = 0;  // written, not yet made into packets
    std::uint64_t queued = 0;  // of unacked, what waits in front of the driver
    std::uint64_t unacked = 0;
    bool blocked = false;        // its writer waits for room in the send buffer, or an answer
    bool waking = false;         // its processor has yet to hear that it may write again
    std::uint64_t asked_ps = 0;  // when the last write began
  };

  // `sessions`: of the guest, of which this pair has some.
  StreamStack(DriverRing<ModelDriverAccess>& tx, const FramePool& tx_frames,
              DriverRing<ModelDriverAccess>& rx, const FramePool& rx_frames, Core& boot,
              const StreamConfig& config, std::size_t sessions)
      : tx_(&tx),
        tx_frames_(tx_frames),
        rx_(&rx),
        rx_frames_(rx_frames),
        config_(config),
        sessions_(sessions) {
    for (std::uint32_t i = tx_frames.count; i > 0; --i) free_.push_back(i - 1);
    run_on(boot);
    for (std::uint32_t i = 0; i < rx_frames_.count; ++i) offer(i);
    rx_->publish();
    (void)rx_->enable_callback();
    tx_->disable_callback();
  }

  const Session& session(std::size_t i) const { return sessions_[i]; }
  std::uint64_t packets() const { return packets_; }
  std::uint64_t kicks() const { return kicks_; }
  const Histogram& answers() const { return answers_; }  // from request to answer

  // One write of session `i`, on `core`.
  void write(Core& core, std::size_t i) {
    sessions_[i].asked_ps = core.now();
    core.run(operation_index(Op::kStreamWrite));
    charge_bytes(core, config_.message_bytes);
    Session& session = sessions_[i];
    session.unsent += config_.message_bytes;
    run_on(core);
    push(core, i);
    session.blocked = config_.requests || session.unsent + session.unacked >= config_.send_buffer;
  }

  // The receive queue was used: takes acknowledgements, at most a budget of them, and
  // sends what they allow. False: there are more.
  bool poll(Core& core) {
    constexpr int kBudget = 64;  // NAPI
    run_on(core);
    for (int n = 0; n < kBudget; ++n) {
      const auto completion = rx_->reap();
      if (!completion) return finish_poll();
      core.run(operation_index(Op::kStreamAck));
      const std::byte* frame = rx_frame(completion->token);
      core.load(core.line_of(frame), Step::kGuestAck);
      const TcpWord word = TcpWord::from(frame);
      offer(completion->token);
      acknowledge(core, word);
    }
    publish_rx(core);
    return false;
  }

  // The transmit queue has room again.
  void resume(Core& core) {
    run_on(core);
    tx_->disable_callback();
    reap(core);
    stopped_ = false;
    // The first in line, and in its place what its session has meanwhile to send.
    while (!stopped_ && !waiting_.empty()) {
      const TcpWord next = waiting_.front();
      waiting_.pop_front();
      sessions_[next.session].queued -= next.bytes;
      transmit(core, next);
      push(core, next.session);
    }
  }

  // A writer that may write again, by whom and when it was woken. Its processor hears
  // of it and unblocks it.
  struct Woken {
    std::size_t session;
    CoreId by;
    std::uint64_t at_ps;
  };
  bool has_woken() const { return !woken_.empty(); }
  std::vector<Woken> take_woken() { return std::exchange(woken_, {}); }
  void unblock(std::size_t i) { sessions_[i].blocked = sessions_[i].waking = false; }

  // What this side did for the host to hear of; asked once.
  struct Kicks {
    bool tx = false;
    bool rx = false;
    std::uint64_t at_ps = 0;  // the last of them
  };
  Kicks take_kicks() { return std::exchange(pending_kicks_, {}); }
  bool kicked() const { return pending_kicks_.tx || pending_kicks_.rx; }

 private:
  static constexpr std::uint32_t kHeader = sizeof(VirtioNetHdr);
  // Bytes of a session that may wait in front of the driver: tcp_limit_output_bytes.
  static constexpr std::uint64_t kQueueLimit = 262144;
  static constexpr std::uint16_t kRoom = 2 + 17;  // descriptors of a packet in full fragments

  void run_on(Core& core) {
    tx_->access().run_on(core);
    rx_->access().run_on(core);
    core_ = &core;
  }
  void charge_bytes(Core& core, std::uint64_t bytes) {
    const double each = core.machine().costs.tcp_write_ps_per_byte;
    core.charge(Cost::kTcpWriteBytes, Step::kGuestWrite,
                static_cast<std::uint64_t>(std::llround(each * static_cast<double>(bytes))), bytes);
  }

  void push(Core& core, std::size_t i) {
    Session& session = sessions_[i];
    while (session.queued < kQueueLimit) {
      std::uint64_t bytes = std::min<std::uint64_t>(session.unsent, kTcpMaxPayload);
      bytes -= bytes % kTcpMss;
      if (bytes == 0 && session.unacked == 0) bytes = session.unsent;
      if (bytes == 0) return;
      session.unsent -= bytes;
      session.unacked += bytes;
      core.run(operation_index(Op::kStreamTransmit));
      const TcpWord packet{static_cast<std::uint16_t>(i), static_cast<std::uint32_t>(bytes)};
      if (stopped_ || !waiting_.empty()) {
        session.queued += bytes;
        waiting_.push_back(packet);
      } else {
        transmit(core, packet);
      }
    }
  }

  // The driver's part: from a packet to a chain that the device sees.
  void transmit(Core& core, TcpWord packet) {
    reap(core);
    const std::uint64_t buffer = free_.back();
    free_.pop_back();
    fill(core, buffer, packet);
    const GuestAddr addr{tx_frames_.base.value + buffer * tx_frames_.stride +
                         FramePool::kFrameOffset - kHeader};
    // Headers in front of the first fragment, payload behind them.
    const Buffer parts[] = {{addr, kHeader + kTcpHeaders},
                            {GuestAddr{addr.value + kHeader + kTcpHeaders}, packet.bytes}};
    (void)tx_->add(parts, {}, buffer);  // the queue is stopped before it is full
    tx_->publish();
    if (tx_->kick_needed()) {
      core.run(operation_index(Op::kGuestKickExit));
      ++kicks_;
      pending_kicks_.tx = true;
      pending_kicks_.at_ps = core.now();
    }
    ++packets_;
    stop_if_full(core);
  }

  void fill(Core& core, std::uint64_t buffer, TcpWord word) {
    std::byte* frame = tx_frames_.host + buffer * tx_frames_.stride + FramePool::kFrameOffset;
    core.store_lines(core.line_of(frame - kHeader),
                     core.line_of(frame + kTcpHeaders + word.bytes - 1), Step::kGuestFill);
    VirtioNetHdr header;
    header.flags = kNetHdrNeedsCsum;
    header.hdr_len = kTcpHeaders;
    header.csum_start = 34;
    header.csum_offset = 16;
    if (word.bytes > kTcpMss) {
      header.gso_type = kNetHdrGsoTcp4;
      header.gso_size = kTcpMss;
    }
    std::memcpy(frame - kHeader, &header, sizeof(header));
    const std::uint64_t packed = word.packed();
    std::memcpy(frame, &packed, sizeof(packed));
  }

  // Sent packets are freed when the next one is sent, or when the queue resumes.
  void reap(Core& core) {
    while (const auto completion = tx_->reap()) {
      core.run(operation_index(Op::kStreamFree));
      free_.push_back(static_cast<std::uint32_t>(completion->token));
    }
  }

  void stop_if_full(Core& core) {
    if (tx_->state().free_count >= kRoom) return;
    stopped_ = true;
    if (!tx_->enable_callback_delayed()) return;  // a call will come
    reap(core);
    if (tx_->state().free_count < kRoom) return;
    stopped_ = false;
    tx_->disable_callback();
  }

  void acknowledge(Core& core, TcpWord word) {
    Session& session = sessions_[word.session];
    session.unacked -= std::min<std::uint64_t>(session.unacked, word.bytes);
    const std::uint64_t out = session.unsent + session.unacked;
    if (config_.requests && out == 0) answers_.add(core.now() - session.asked_ps);
    // A writer is woken when a third of its buffer is free.
    const bool wakes = config_.requests ? out == 0 : out * 3 <= config_.send_buffer * 2;
    if (wakes && session.blocked && !session.waking) {
      session.waking = true;
      woken_.push_back({word.session, core.id(), core.now()});
    }
    push(core, word.session);
  }

  bool finish_poll() {
    publish_rx(*core_);
    return !rx_->enable_callback();
  }
  void publish_rx(Core& core) {
    if (rx_->state().next_avail == rx_->state().published_avail) return;
    rx_->publish();
    rx_->disable_callback();
    if (!rx_->kick_needed()) return;
    core.run(operation_index(Op::kGuestKickExit));
    ++kicks_;
    pending_kicks_.rx = true;
    pending_kicks_.at_ps = core.now();
  }

  std::byte* rx_frame(std::uint64_t buffer) const {
    return rx_frames_.host + buffer * rx_frames_.stride + FramePool::kFrameOffset;
  }
  void offer(std::uint64_t buffer) {
    const std::uint64_t offset = buffer * rx_frames_.stride + FramePool::kFrameOffset - kHeader;
    const Buffer whole[] = {
        {GuestAddr{rx_frames_.base.value + offset}, kHeader + config_.rx_buffer_bytes}};
    (void)rx_->add({}, whole, buffer);  // the one just taken left room
  }

  DriverRing<ModelDriverAccess>* tx_;
  FramePool tx_frames_;
  DriverRing<ModelDriverAccess>* rx_;
  FramePool rx_frames_;
  StreamConfig config_;
  std::vector<Session> sessions_;
  std::deque<TcpWord> waiting_;      // the queueing discipline: packets, oldest first
  std::vector<std::uint32_t> free_;  // transmit buffers, the last freed is taken first
  Core* core_ = nullptr;
  bool stopped_ = false;  // the transmit queue has no room
  Kicks pending_kicks_;
  std::vector<Woken> woken_;
  std::uint64_t packets_ = 0;
  std::uint64_t kicks_ = 0;
  Histogram answers_;
};

// One virtual processor: runs its sessions' writers in turn, and the interrupts that
// it is given.
class StreamCpu {
 public:
  explicit StreamCpu(Core& core) : core_(&core) {}

  // One session more, of a pair.
  void run_session(StreamStack& stack, std::size_t session) {
    sessions_.push_back({&stack, session});
  }
  // One pair more whose queues interrupt this processor; the number of its line.
  std::size_t add_line(StreamStack& stack) {
    lines_.push_back({&stack});
    return lines_.size() - 1;
  }

  Core& core() { return *core_; }
  const Core& core() const { return *core_; }
  bool runnable() const {
    return find(&Line::tx_due) != kNone || find(&Line::rx_due) != kNone || writer() != kNone;
  }
  std::uint64_t interrupts() const { return interrupts_; }

  // A queue called; the processor hears of it at `at_ps`.
  void rx_called(std::size_t line, std::uint64_t at_ps) { interrupt(lines_[line].rx_due, at_ps); }
  void tx_called(std::size_t line, std::uint64_t at_ps) { interrupt(lines_[line].tx_due, at_ps); }

  // One of its writers may go on. Another processor has to be told by an interrupt.
  void woken(StreamStack& stack, const StreamStack::Woken& woken) {
    const std::uint64_t ipi_ps =
        woken.by == core_->id() ? 0 : core_->machine().costs.irq_latency_ps;
    if (!runnable()) core_->idle_until(woken.at_ps + ipi_ps);
    stack.unblock(woken.session);
  }

  // One turn of an interrupt's work, or one write.
  void step() {
    if (entering_) {
      entering_ = false;
      core_->run(operation_index(Op::kGuestInterrupt));
    }
    if (const std::size_t tx = find(&Line::tx_due); tx != kNone) {
      lines_[tx].tx_due = false;
      lines_[tx].stack->resume(*core_);
    } else if (const std::size_t rx = find(&Line::rx_due); rx != kNone) {
      poll(rx);
    } else {
      write();
    }
  }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;
  static constexpr std::uint64_t kSlicePs = 3'000'000'000;  // of a process among others

  // The interrupts of a pair.
  struct Line {
    StreamStack* stack;
    bool rx_due = false;
    bool tx_due = false;
  };
  struct Writer {
    StreamStack* stack;
    std::size_t session;

    bool blocked() const { return stack->session(session).blocked; }
  };

  // The line whose turn it is of those where something is due; kNone if there is none.
  std::size_t find(bool Line::*due) const {
    for (std::size_t n = 0; n < lines_.size(); ++n) {
      const std::size_t i = (turn_ + n) % lines_.size();
      if (lines_[i].*due) return i;
    }
    return kNone;
  }

  void interrupt(bool& due, std::uint64_t at_ps) {
    if (!runnable()) core_->idle_until(at_ps);
    due = true;
    entering_ = true;
    ++interrupts_;
  }

  // A queue whose budget is used up lets the others go first.
  void poll(std::size_t line) {
    lines_[line].rx_due = !lines_[line].stack->poll(*core_);
    turn_ = (line + 1) % lines_.size();
  }

  // The position of the next session that can write; kNone if none can.
  std::size_t writer() const {
    for (std::size_t n = 0; n < sessions_.size(); ++n) {
      const std::size_t i = (current_ + n) % sessions_.size();
      if (!sessions_[i].blocked()) return i;
    }
    return kNone;
  }

  void write() {
    std::size_t next = writer();
    if (next == current_ && core_->now() - since_ps_ > kSlicePs && sessions_.size() > 1) {
      current_ = (current_ + 1) % sessions_.size();
      next = writer();
    }
    if (next != running_) {
      core_->charge(Cost::kContextSwitch, Step::kGuestWrite,
                    core_->machine().costs[Cost::kContextSwitch]);
      running_ = next;
      since_ps_ = core_->now();
    }
    current_ = next;
    sessions_[next].stack->write(*core_, sessions_[next].session);
  }

  Core* core_;
  std::vector<Writer> sessions_;
  std::vector<Line> lines_;
  std::size_t turn_ = 0;     // position in lines_ of the one whose turn it is
  std::size_t current_ = 0;  // position in sessions_ of the one whose turn it is
  std::size_t running_ = 0;  // of the one that ran last
  std::uint64_t since_ps_ = 0;
  bool entering_ = false;  // an interrupt has yet to be entered
  std::uint64_t interrupts_ = 0;
};

}  // namespace vringlab::sim
