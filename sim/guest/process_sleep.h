// Sleep of a process that has a virtual processor of its own, and its wake-up from another.
#pragma once

#include "sim/access/operations.h"
#include "sim/machine/signals.h"

namespace vringlab::sim {

class ProcessSleep {
 public:
  ProcessSleep(Core& core, Signals& signals) : core_(&core), signals_(&signals) {}

  bool asleep() const { return asleep_; }
  std::uint64_t wakeups() const { return wakeups_; }

  // `op`: what the process pays to sleep.
  void sleep(Op op) {
    core_->run(operation_index(op));
    asleep_ = true;
  }
  // By the kernel on `from`; one that is awake is left alone.
  void wake(Core& from) {
    if (!asleep_) return;
    asleep_ = false;
    ++wakeups_;
    signals_->woke = true;
    from.run(operation_index(Op::kGuestWake));
    core_->idle_until(from.now() + core_->machine().costs.irq_latency_ps);
  }

 private:
  Core* core_;
  Signals* signals_;
  bool asleep_ = false;
  std::uint64_t wakeups_ = 0;
};

}  // namespace vringlab::sim
