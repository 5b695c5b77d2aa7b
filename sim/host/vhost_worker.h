// The vhost worker thread of one transmit queue: runs the device loop, polls a
// while when there is nothing, sleeps, and is woken by kicks. It also maps the
// ring again after an invalidation, before it next runs.
#pragma once

#include "core/device/net_tx.h"
#include "sim/access/mapping.h"
#include "sim/access/model_access.h"

namespace vringlab::sim {

struct VhostWorkerConfig {
  std::uint64_t busy_poll_ps = 0;    // polls that long before it sleeps
  std::uint32_t inline_packets = 0;  // packets a kick serves itself before it wakes the worker
  Op late = Op::kUnmodelledLate;     // of each packet: the second half of what no row names
};

template <class Device>
class VhostWorker {
 public:
  VhostWorker(Core& core, Device& device, DeviceContext& context, RingMapping& mapping,
              const QueueConfig& ring, const VhostWorkerConfig& config)
      : core_(&core),
        device_(&device),
        context_(&context),
        mapping_(&mapping),
        ring_(ring),
        config_(config) {}

  Core& core() { return *core_; }
  const Core& core() const { return *core_; }
  bool runnable() const { return state_ == State::kRunning || state_ == State::kPolling; }
  bool asleep() const { return state_ == State::kAsleep; }
  bool broken() const { return broken_; }
  std::uint64_t wakeups() const { return wakeups_; }
  std::uint64_t inline_served() const { return inline_served_; }

  // Takes at most one packet, or polls once.
  void step() {
    if (state_ == State::kPolling) {
      poll();
      return;
    }
    if (run_starts_) start_run();
    const Turn turn = device_->step();
    if (turn == Turn::kPacket) {
      core_->run(operation_index(config_.late));
    } else {
      end_run(turn);
    }
  }

  // A kick at `at_ps`. A worker that runs already looks again before it sleeps.
  void kicked(std::uint64_t at_ps) {
    if (broken_) return;
    if (state_ != State::kAsleep) {
      kick_pending_ = true;
      return;
    }
    core_->idle_until(at_ps + core_->machine().costs.until_switch_ps);
    core_->run(operation_index(Op::kScheduleIn));
    ++wakeups_;
    state_ = State::kRunning;
  }

  // The VMM takes the queue at `at_ps`: at the end of the run that is under way, as that has
  // the queue's lock. Rings the bell `stopped`.
  void stop(std::uint64_t at_ps) {
    stopping_ = state_ == State::kRunning && !run_starts_;
    if (!stopping_) let_go(at_ps);
  }
  // And gives it back at `at_ps`, with another ring. It sleeps until it is kicked.
  void start(const QueueConfig& ring, std::uint64_t at_ps) {
    ring_ = ring;
    state_ = State::kAsleep;
    run_starts_ = true;
    kick_pending_ = broken_ = false;
    core_->idle_until(at_ps);
  }

  // The kick serves a few packets on the kicking core. True: there is more, or
  // the worker is at it; it must be kicked as well.
  bool serve_inline(Core& kicking) {
    if (state_ != State::kAsleep || broken_) return true;
    context_->core = &kicking;
    const bool more = serve_some();
    context_->core = core_;
    return more;
  }

 private:
  enum class State : std::uint8_t { kAsleep, kRunning, kPolling, kStopped };

  void end_run(Turn turn) {
    run_starts_ = true;
    switch (turn) {
      case Turn::kYield:
        core_->run(operation_index(config_.late));
        core_->run(operation_index(Op::kRequeue));
        break;
      case Turn::kBroken:
        broken_ = true;
        state_ = State::kAsleep;
        break;
      default:
        wait();
        break;
    }
    if (stopping_) let_go(core_->now());
  }

  void let_go(std::uint64_t at_ps) {
    stopping_ = false;
    state_ = State::kStopped;
    context_->bells->stopped = true;
    context_->bells->stopped_ps = at_ps;
  }

  void start_run() {
    run_starts_ = false;
    if (context_->unmapped && mapping_->set_up(*core_, ring_))
      context_->set_unmapped(mapping_->plan(), !mapping_->usable());
  }

  void wait() {
    if (config_.busy_poll_ps > 0) {
      state_ = State::kPolling;
      deadline_ps_ = core_->now() + config_.busy_poll_ps;
    } else {
      try_sleep();
    }
  }

  void poll() {
    core_->run(operation_index(Op::kBusyPollTurn));
    if (device_->work_pending()) {
      state_ = State::kRunning;
    } else if (core_->now() >= deadline_ps_) {
      try_sleep();
    }
  }

  void try_sleep() {
    state_ = device_->arm() || kick_pending_ ? State::kRunning : State::kAsleep;
    kick_pending_ = false;
  }

  bool serve_some() {
    for (std::uint32_t i = 0; i < config_.inline_packets; ++i) {
      const Turn turn = device_->step();
      if (turn == Turn::kEmpty) return device_->arm();
      if (turn == Turn::kBroken) {
        broken_ = true;
        return false;
      }
      context_->core->run(operation_index(config_.late));
      ++inline_served_;
    }
    device_->finish();
    // arm() asks for what the guest adds; there may be packets seen and not taken.
    const DeviceRingState& ring = device_->ring().state();
    return ring.next_avail != ring.avail_idx || device_->arm();
  }

  Core* core_;
  Device* device_;
  DeviceContext* context_;
  RingMapping* mapping_;
  QueueConfig ring_;
  VhostWorkerConfig config_;
  State state_ = State::kAsleep;
  bool run_starts_ = true;         // the next step begins a run of the device loop
  bool kick_pending_ = false;      // kicked while running
  bool stopping_ = false;          // the VMM waits for the end of the run
  bool broken_ = false;            // the queue is out of service
  std::uint64_t deadline_ps_ = 0;  // end of the busy poll under way
  std::uint64_t wakeups_ = 0;
  std::uint64_t inline_served_ = 0;
};

}  // namespace vringlab::sim
