// A guest that does nothing but transmit: testpmd in txonly mode over the virtio
// poll-mode driver. Frames are added one a step, built and published a burst at a
// time.
#pragma once

#include "core/driver/driver_ring.h"
#include "sim/access/model_access.h"
#include "sim/guest/tx_frames.h"
#include "sim/machine/arrivals.h"
#include "sim/machine/latency.h"

namespace vringlab::sim {

// Who makes the frames.
enum class TxSource : std::uint8_t {
  kPmd,    // testpmd itself, a burst at a time
  kPktgen  // the guest kernel's generator, frame by frame
};

struct TestpmdConfig {
  std::uint64_t packets = 0;       // to send in all
  std::uint32_t frame_bytes = 64;  // without the virtio-net header
  std::uint32_t burst = 32;        // frames between two publications
  bool split_header = false;       // header in a descriptor of its own
  bool interrupts = false;         // sleep until called when the ring is full; else poll
  bool exits = false;              // a kick leaves a virtual machine; else it is a system call
  bool skip_polls = true;          // account a row of empty polls at once
  TxSource source = TxSource::kPmd;
};

// A burst starts when `Arrivals` says so. `KickHost` is called as kick_host(core)
// after the guest has paid for the kick.
template <class KickHost>
class Testpmd {
 public:
  Testpmd(Core& core, DriverRing<ModelDriverAccess>& ring, const FramePool& pool,
          const TestpmdConfig& config, const Arrivals& arrivals, LatencyLog& latency,
          KickHost kick_host)
      : core_(&core),
        ring_(&ring),
        frames_(core, pool, config.frame_bytes, config.split_header),
        config_(config),
        arrivals_(arrivals),
        latency_(&latency),
        kick_host_(kick_host) {
    if (config.packets == 0) state_ = State::kDone;
    if (!config.interrupts) ring.disable_callback();
    arrivals_.wait_for(core);
  }

  Core& core() { return *core_; }
  const Core& core() const { return *core_; }
  bool runnable() const { return state_ <= State::kWaiting; }
  bool done() const { return state_ == State::kDone; }
  bool asleep() const { return state_ == State::kAsleep; }
  std::uint64_t sent() const { return sent_; }
  std::uint64_t kicks() const { return kicks_; }
  std::uint64_t interrupts() const { return interrupts_; }

  // Fills at most one frame.
  void step() {
    if (state_ == State::kWaiting) {
      poll();
      return;
    }
    if (in_burst_ == 0) {
      if (!built_) build_burst(1);
      built_ = false;
      ring_->reap();  // the only look at used.idx in a burst
    } else if (ring_->state().last_used != ring_->state().used_idx) {
      ring_->reap();
    }
    if (ring_->state().free_count < frames_.descriptors()) {
      if (in_burst_ > 0) publish();
      wait_for_room();
      return;
    }
    fill();
    if (++in_burst_ == config_.burst || done()) end_burst();
  }

  // The device wrote what this side polls in a step that started at `start_ps`;
  // `first`: at equal time the guest's poll came before it.
  void used_written(std::uint64_t start_ps, bool first) {
    if (state_ != State::kPolling) return;
    state_ = State::kWaiting;
    const std::uint64_t missed = polls_before(core_->now(), start_ps, poll_ps(), first);
    build_burst(missed);
    core_->run_times(operation_index(Op::kGuestPoll), missed);
    core_->run_times(operation_index(Op::kGuestReap), missed);
  }

  // The device called; the guest hears of it at `at_ps`.
  void called(std::uint64_t at_ps) {
    if (state_ != State::kAsleep) return;
    state_ = State::kFilling;
    core_->idle_until(at_ps);
    core_->run(operation_index(Op::kGuestInterrupt));
    ++interrupts_;
    ring_->disable_callback();
  }

 private:
  enum class State : std::uint8_t {
    kFilling,
    kWaiting,  // the ring is full: polls for used elements
    kPolling,  // the last poll found none; more are accounted later
    kAsleep,   // waits for a call
    kDone      // all is sent
  };

  std::uint64_t poll_ps() const {
    return core_->operation_ps(operation_index(Op::kGuestBurst)) +
           config_.burst * core_->operation_ps(operation_index(Op::kGuestPacket)) +
           core_->operation_ps(operation_index(Op::kGuestPoll)) +
           core_->operation_ps(operation_index(Op::kGuestReap));
  }

  // txonly builds a whole burst before it offers it, and throws away what finds no
  // room: so an attempt on a full ring takes as long as one that succeeds.
  void build_burst(std::uint64_t times) {
    if (config_.source == TxSource::kPktgen)
      return core_->run_times(operation_index(Op::kGuestPktgen), times);
    core_->run_times(operation_index(Op::kGuestBurst), times);
    core_->run_times(operation_index(Op::kGuestPacket), times * config_.burst);
  }

  void fill() {
    const GuestAddr addr = frames_.fill(sent_);
    latency_->start(core_->now());
    frames_.queue(*ring_, addr, sent_);
    if (++sent_ == config_.packets) state_ = State::kDone;
  }

  // Waits at the end of a step: one that waited first would have its place in the
  // order long before it did anything, and others would see what isn't there yet.
  void end_burst() {
    publish();
    if (!done()) arrivals_.wait_for(*core_);
  }

  void publish() {
    in_burst_ = 0;
    ring_->publish();
    if (!ring_->kick_needed()) return;
    core_->run(operation_index(config_.exits ? Op::kGuestKickExit : Op::kGuestKickSyscall));
    ++kicks_;
    kick_host_(*core_);
  }

  void wait_for_room() {
    if (config_.interrupts) {
      if (!ring_->enable_callback()) state_ = State::kAsleep;
    } else {
      state_ = State::kWaiting;
    }
  }
  void poll() {
    build_burst(1);
    core_->run(operation_index(Op::kGuestPoll));
    const bool found = ring_->reap().has_value();
    if (ring_->state().free_count >= frames_.descriptors()) {
      state_ = State::kFilling;
      built_ = true;
    } else if (config_.skip_polls && !found) {
      state_ = State::kPolling;
    }
  }

  Core* core_;
  DriverRing<ModelDriverAccess>* ring_;
  TxFrames frames_;
  TestpmdConfig config_;
  Arrivals arrivals_;
  LatencyLog* latency_;
  KickHost kick_host_;
  std::uint64_t sent_ = 0;
  std::uint64_t kicks_ = 0;
  std::uint64_t interrupts_ = 0;
  std::uint32_t in_burst_ = 0;  // frames added, not yet published
  bool built_ = false;          // the poll that found room has built the next burst
  State state_ = State::kFilling;
};

}  // namespace vringlab::sim
