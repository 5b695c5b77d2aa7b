// When a driver's softirq runs: from an interrupt or a wake-up on, until a poll has left nothing.
#pragma once

#include "core/driver/driver_ring.h"
#include "core/driver/net_receive.h"
#include "sim/access/model_access.h"

namespace vringlab::sim {

// `KickHost` is called as kick_host(core) after the guest has paid for the kick.
template <class KickHost>
class Napi {
 public:
  // `defer_ps`: after a poll that found something, so long with interrupts off until the next.
  Napi(Core& core, DriverRing<ModelDriverAccess>& ring, KickHost kick_host,
       std::uint64_t defer_ps = 0)
      : core_(&core), ring_(&ring), kick_host_(kick_host), defer_ps_(defer_ps) {}

  bool asleep() const { return asleep_; }
  bool polling() const { return polling_; }
  std::uint64_t kicks() const { return kicks_; }
  std::uint64_t interrupts() const { return interrupts_; }

  // Something runs it at `at_ps`: a call, or another processor that asks for it. False: it
  // runs already.
  bool interrupt(std::uint64_t at_ps) {
    if (!asleep_) return false;
    asleep_ = false;
    core_->idle_until(at_ps);
    core_->run(operation_index(Op::kGuestInterrupt));
    ++interrupts_;
    ring_->disable_callback();
    return true;
  }
  // True: this step begins a poll.
  bool begin_poll() {
    if (polling_) return false;
    polling_ = true;
    if (deferred_) core_->run(operation_index(Op::kGuestInterrupt));  // of the timer
    deferred_ = false;
    core_->run(operation_index(Op::kNapiPoll));
    return true;
  }
  // `again`: its budget ended it. Else it sleeps, unless something came meanwhile, or polls
  // again later if this one `found` something and polls are deferred.
  void end_poll(bool again, bool found) {
    polling_ = false;
    if (again) return;
    deferred_ = found && defer_ps_ > 0;
    if (!deferred_) return sleep();
    core_->idle_until(core_->now() + defer_ps_);
  }
  // Between two polls: nothing runs it until it starts again, with a poll at once.
  void stop() { asleep_ = deferred_ = false; }
  void start() { ring_->disable_callback(); }
  void sleep() { asleep_ = !ring_->enable_callback(); }
  void kick() {
    core_->run(operation_index(Op::kGuestKickExit));
    ++kicks_;
    kick_host_(*core_);
  }

 private:
  Core* core_;
  DriverRing<ModelDriverAccess>* ring_;
  KickHost kick_host_;
  std::uint64_t defer_ps_;
  bool polling_ = false;   // a poll has begun and not ended
  bool deferred_ = false;  // the next poll is a timer's
  bool asleep_ = false;    // waits for a call
  std::uint64_t kicks_ = 0;
  std::uint64_t interrupts_ = 0;
};

}  // namespace vringlab::sim
