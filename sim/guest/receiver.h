// A guest that only receives: testpmd in rxonly mode over the virtio poll-mode
// driver. It takes used buffers one a step and offers them anew a burst at a time.
#pragma once

#include <cstring>
#include <vector>

#include "core/driver/driver_ring.h"
#include "core/spec/net.h"
#include "sim/access/model_access.h"
#include "sim/guest/frame_pool.h"

namespace vringlab::sim {

struct ReceiverConfig {
  std::uint64_t packets = 0;          // to receive in all
  std::uint32_t buffer_bytes = 2048;  // of one buffer, the virtio-net header apart
  std::uint32_t burst = 32;           // buffers between two publications
  bool interrupts = false;            // sleep until called when nothing is there; else poll
  bool exits = false;                 // a kick leaves a virtual machine; else it is a system call
  bool skip_polls = true;             // account a row of empty polls at once
};

// `KickHost` is called as kick_host(core) after the guest has paid for the kick.
template <class KickHost>
class Receiver {
 public:
  // Offers a buffer for each entry of the ring.
  Receiver(Core& core, DriverRing<ModelDriverAccess>& ring, const FramePool& pool,
           const ReceiverConfig& config, KickHost kick_host)
      : core_(&core), ring_(&ring), pool_(pool), config_(config), kick_host_(kick_host) {
    if (!config.interrupts) ring.disable_callback();
    for (std::uint32_t i = 0; i < pool_.count && ring.state().free_count > 0; ++i) offer(i);
    ring.publish();
    waiting_ = true;
  }

  Core& core() { return *core_; }
  const Core& core() const { return *core_; }
  bool runnable() const { return !done() && !polling_ && !asleep_; }
  bool done() const { return received_ >= config_.packets; }
  std::uint64_t received() const { return received_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t step_ps() const { return step_ps_; }  // when the last step began
  std::uint64_t kicks() const { return kicks_; }
  std::uint64_t interrupts() const { return interrupts_; }

  // Takes at most one buffer.
  void step() {
    step_ps_ = core_->now();
    if (waiting_) {
      poll();
      return;
    }
    if (in_burst_ < config_.burst && take()) return;
    const bool all = in_burst_ < config_.burst;
    end_burst();
    if (all) wait();
  }

  // See Testpmd::used_written.
  void used_written(std::uint64_t start_ps, bool first) {
    if (!polling_) return;
    polling_ = false;
    const std::uint64_t missed = polls_before(core_->now(), start_ps, poll_ps(), first);
    core_->run_times(operation_index(Op::kGuestPoll), missed);
    core_->run_times(operation_index(Op::kGuestReap), missed);
  }

  // The device called; the guest hears of it at `at_ps`.
  void called(std::uint64_t at_ps) {
    if (!asleep_) return;
    asleep_ = false;
    core_->idle_until(at_ps);
    core_->run(operation_index(Op::kGuestInterrupt));
    ++interrupts_;
    ring_->disable_callback();
  }

 private:
  static constexpr std::uint32_t kHeader = sizeof(VirtioNetHdr);

  std::uint64_t poll_ps() const {
    return core_->operation_ps(operation_index(Op::kGuestPoll)) +
           core_->operation_ps(operation_index(Op::kGuestReap));
  }
  std::byte* header_of(std::uint64_t buffer) const {
    return pool_.host + buffer * pool_.stride + FramePool::kFrameOffset - kHeader;
  }

  void offer(std::uint64_t buffer) {
    const std::uint64_t offset = buffer * pool_.stride + FramePool::kFrameOffset - kHeader;
    const Buffer whole[] = {{GuestAddr{pool_.base.value + offset}, kHeader + config_.buffer_bytes}};
    (void)ring_->add({}, whole, buffer);  // the one just taken left room
  }

  bool take() {
    const auto completion = ring_->reap();
    if (!completion) return false;
    core_->run(operation_index(Op::kGuestReceive));
    count(*completion);
    offer(completion->token);
    ++in_burst_;
    return true;
  }

  // The first buffer of a packet says how many it has.
  void count(const Completion& completion) {
    bytes_ += completion.written_bytes;
    if (more_buffers_ > 0) {
      --more_buffers_;
    } else {
      const std::byte* header = header_of(completion.token);
      core_->load(core_->line_of(header), Step::kGuestReceive);
      VirtioNetHdr values;
      std::memcpy(&values, header, sizeof(values));
      more_buffers_ = values.num_buffers > 0 ? values.num_buffers - 1u : 0u;
      bytes_ -= kHeader;
    }
    if (more_buffers_ == 0) ++received_;
  }

  void end_burst() {
    if (in_burst_ == 0) return;
    in_burst_ = 0;
    ring_->publish();
    if (!ring_->kick_needed()) return;
    core_->run(operation_index(config_.exits ? Op::kGuestKickExit : Op::kGuestKickSyscall));
    ++kicks_;
    kick_host_(*core_);
  }

  void wait() {
    if (config_.interrupts) {
      asleep_ = !ring_->enable_callback();
    } else {
      waiting_ = true;
    }
  }
  // A poll that finds something takes it at once.
  void poll() {
    core_->run(operation_index(Op::kGuestPoll));
    const bool found = take();
    waiting_ = !found;
    polling_ = config_.skip_polls && !found;
  }

  Core* core_;
  DriverRing<ModelDriverAccess>* ring_;
  FramePool pool_;
  ReceiverConfig config_;
  KickHost kick_host_;
  std::uint64_t step_ps_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t bytes_ = 0;  // of frames
  std::uint64_t kicks_ = 0;
  std::uint64_t interrupts_ = 0;
  std::uint32_t in_burst_ = 0;      // buffers offered anew, not yet published
  std::uint32_t more_buffers_ = 0;  // of the packet whose first was taken
  bool waiting_ = false;            // nothing there: polls for used elements
  bool polling_ = false;            // the last poll found none; more are accounted later
  bool asleep_ = false;             // waits for a call
};

}  // namespace vringlab::sim
