// A process of a guest that writes frame after frame into a UDP socket, and below it the kernel's
// driver, which frees what was sent in one of two ways:
//
//   - by its softirq (napi_tx): each frame asks for a call once three quarters of what is in
//     flight have been sent; the call interrupts the process;
//   - when the next frame is sent: no calls but where the queue is full.
//
// The virtual processor is one: the process runs while the softirq does not. It waits where the
// queue is full; the queueing discipline between socket and driver is left out.
#pragma once

#include "sim/guest/tx_frames.h"
#include "sim/machine/arrivals.h"
#include "sim/machine/latency.h"

namespace vringlab::sim {

struct UdpSenderConfig {
  std::uint64_t packets = 0;       // to send in all
  std::uint32_t frame_bytes = 64;  // without the virtio-net header
  bool napi_tx = true;             // sent frames are freed by the softirq
};

// `KickHost` is called as kick_host(core) after the guest has paid for the kick.
template <class KickHost>
class UdpSender {
 public:
  UdpSender(Core& core, DriverRing<ModelDriverAccess>& ring, const FramePool& pool,
            const UdpSenderConfig& config, const Arrivals& arrivals, LatencyLog& latency,
            KickHost kick_host)
      : core_(&core),
        ring_(&ring),
        frames_(core, pool, config.frame_bytes, false),
        config_(config),
        room_(std::min<std::uint32_t>(kMostDescriptors, ring.state().size)),
        arrivals_(arrivals),
        latency_(&latency),
        kick_host_(kick_host) {
    ring.disable_callback();
    arrivals_.wait_for(core);
  }

  Core& core() { return *core_; }
  const Core& core() const { return *core_; }
  bool runnable() const { return softirq_ != Softirq::kNone || (!stopped_ && !done()); }
  bool done() const { return sent_ == config_.packets; }
  std::uint64_t kicks() const { return kicks_; }
  std::uint64_t interrupts() const { return interrupts_; }

  // Enters an interrupt, polls once, or sends a frame.
  void step() {
    if (softirq_ == Softirq::kCalled && (stopped_ || done() || core_->now() >= called_ps_))
      return enter();
    if (softirq_ == Softirq::kPolling) return poll();
    send();
  }

  // The device called; the guest hears of it at `at_ps`. Between two frames that come at times of
  // their own it hears of it with the next.
  void called(std::uint64_t at_ps) {
    if (softirq_ != Softirq::kNone) return;
    softirq_ = Softirq::kCalled;
    called_ps_ = at_ps;
  }
  void used_written(std::uint64_t, bool) {}  // it does not poll for what is not there

 private:
  enum class Softirq : std::uint8_t { kNone, kCalled, kPolling };

  // A frame may take so many descriptors: header, linear part, 17 fragments. The driver stops its
  // queue as soon as there may be no room for one.
  static constexpr std::uint32_t kMostDescriptors = 19;

  void enter() {
    core_->idle_until(called_ps_);
    core_->run(operation_index(Op::kGuestInterrupt));
    ++interrupts_;
    ring_->disable_callback();
    softirq_ = Softirq::kPolling;
  }
  void poll() {
    if (config_.napi_tx) core_->run(operation_index(Op::kNapiPoll));
    free_sent();
    if (stopped_ && has_room()) stopped_ = false;
    if (!config_.napi_tx && !stopped_) {
      ring_->disable_callback();
      softirq_ = Softirq::kNone;
    } else if (!ring_->enable_callback()) {
      softirq_ = Softirq::kNone;
    }
  }

  void send() {
    core_->run(operation_index(Op::kSocketApp));
    core_->run(operation_index(Op::kUdpSend));
    transmit();
    if (!has_room() && !done()) return stop();
    if (!done()) arrivals_.wait_for(*core_);
  }
  // The driver's part: from a packet to a chain that the device sees.
  void transmit() {
    if (config_.napi_tx) ring_->disable_callback();
    do free_sent();
    while (config_.napi_tx && ring_->enable_callback_delayed());
    const GuestAddr addr = frames_.fill(sent_);
    latency_->start(core_->now());
    frames_.queue(*ring_, addr, sent_);
    ++sent_;
    ring_->publish();
    if (!ring_->kick_needed()) return;
    core_->run(operation_index(Op::kGuestKickExit));
    ++kicks_;
    kick_host_(*core_);
  }
  void stop() {
    stopped_ = true;
    core_->run(operation_index(Op::kBlockingCall));
    if (!ring_->enable_callback_delayed()) return;  // a call will come
    softirq_ = Softirq::kPolling;
  }

  void free_sent() {
    while (ring_->reap()) core_->run(operation_index(Op::kStreamFree));
  }
  bool has_room() const { return ring_->state().free_count >= room_; }

  Core* core_;
  DriverRing<ModelDriverAccess>* ring_;
  TxFrames frames_;
  UdpSenderConfig config_;
  std::uint32_t room_;  // descriptors without which the queue is stopped
  Arrivals arrivals_;
  LatencyLog* latency_;
  KickHost kick_host_;
  Softirq softirq_ = Softirq::kNone;
  bool stopped_ = false;  // the queue has no room and the process sleeps
  std::uint64_t called_ps_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t kicks_ = 0;
  std::uint64_t interrupts_ = 0;
};

}  // namespace vringlab::sim
