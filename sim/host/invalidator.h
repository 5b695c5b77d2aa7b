// The memory manager of the host, as far as a mapping of a ring is concerned.
#pragma once

#include "sim/access/mapping.h"
#include "sim/access/model_access.h"

namespace vringlab::sim {

// Takes the ring's mapping away at a fixed rate, as the memory manager would.
class Invalidator {
 public:
  Invalidator(Core& core, RingMapping& mapping, DeviceContext& context, std::uint64_t period_ps,
              std::uint64_t pages)
      : core_(&core), mapping_(&mapping), context_(&context), period_ps_(period_ps), pages_(pages) {
    core_->idle_until(period_ps_);
  }

  Core& core() { return *core_; }
  const Core& core() const { return *core_; }
  bool runnable() const { return period_ps_ > 0; }
  std::uint64_t invalidations() const { return invalidations_; }

  void step() {
    if (mapping_->invalidate(*core_, 0, pages_)) {
      ++invalidations_;
      context_->set_unmapped(mapping_->plan(), true);
    }
    due_ps_ = std::max(due_ps_ + period_ps_, core_->now());
    core_->idle_until(due_ps_ + period_ps_);
  }

 private:
  Core* core_;
  RingMapping* mapping_;
  DeviceContext* context_;
  std::uint64_t period_ps_;  // 0: never
  std::uint64_t pages_;      // of guest memory
  std::uint64_t due_ps_ = 0;
  std::uint64_t invalidations_ = 0;
};

}  // namespace vringlab::sim
