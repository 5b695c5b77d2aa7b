// Sleep and wake-up of a thread.
#pragma once

#include "sim/access/operations.h"
#include "sim/machine/signals.h"

namespace vringlab::sim {

class Sleeper {
 public:
  Sleeper(Core& core, Signals& signals) : core_(&core), signals_(&signals) {}

  bool awake() const { return awake_; }
  std::uint64_t wakeups() const { return wakeups_; }
  void sleep() { awake_ = false; }
  // False: it was awake.
  bool wake(std::uint64_t at_ps, Op schedule_in) {
    if (awake_) return false;
    awake_ = true;
    ++wakeups_;
    signals_->woke = true;
    core_->idle_until(at_ps + core_->machine().costs.until_switch_ps);
    core_->run(operation_index(schedule_in));
    return true;
  }

 private:
  Core* core_;
  Signals* signals_;
  bool awake_ = false;
  std::uint64_t wakeups_ = 0;
};

}  // namespace vringlab::sim
