// The NIC behind a zero-copy sink: says of each lent frame, some time after it was
// handed over, that it has been sent. Frames complete in their order.
#pragma once

#include <vector>

#include "core/backend/net/xdp_buffer.h"
#include "sim/access/model_access.h"
#include "sim/host/sink.h"

namespace vringlab::sim {

class NicCompletions {
 public:
  // `slots`: frames that may be lent at once.
  NicCompletions(Core& core, std::size_t slots) : core_(&core), lent_(slots) {}

  Core& core() { return *core_; }
  const Core& core() const { return *core_; }
  bool runnable() const { return first_ != last_; }

  // A frame was handed over on `from`.
  void lend(const Core& from, std::uint16_t slot) {
    const std::uint64_t due_ps = from.now() + core_->machine().costs.nic_completion_ps;
    if (!runnable()) core_->idle_until(due_ps);
    lent_[last_++ % lent_.size()] = {slot, due_ps};
  }

  // The next frame is sent: its slot is `completed()` until taken.
  void step() {
    const Lent done = lent_[first_++ % lent_.size()];
    slot_ = done.slot;
    completed_ = true;
    if (runnable()) core_->idle_until(lent_[first_ % lent_.size()].due_ps);
  }
  bool completed() const { return completed_; }
  std::uint16_t take() {
    completed_ = false;
    return slot_;
  }

 private:
  struct Lent {
    std::uint16_t slot = 0;
    std::uint64_t due_ps = 0;
  };

  Core* core_;
  std::vector<Lent> lent_;  // in a ring
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
  std::uint16_t slot_ = 0;
  bool completed_ = false;
};

// Behind the sink: lent frames go to the NIC.
struct ToNic {
  NicCompletions* nic;

  Fate frame(Core&, const XdpBuffer&, std::byte*) { return Fate::kGone; }
  void lent(Core& core, std::uint16_t slot) { nic->lend(core, slot); }
};

}  // namespace vringlab::sim
