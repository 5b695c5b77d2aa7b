// A receive queue as the vhost worker sees it: what it sleeps for depends on what
// the last turn lacked, a packet or a buffer.
#pragma once

#include "core/device/net_rx.h"

namespace vringlab::sim {

template <class Rx>
class RxQueue {
 public:
  explicit RxQueue(Rx& rx) : rx_(&rx) {}

  Turn step() {
    last_ = rx_->step();
    return last_ == Turn::kNoBuffers ? Turn::kEmpty : last_;
  }
  // Asks to be woken; true: what was lacking is there already.
  bool arm() { return lacks_buffers() ? rx_->arm() : rx_->pending(); }
  bool work_pending() { return lacks_buffers() ? rx_->work_pending() : rx_->pending(); }
  void finish() { rx_->finish(); }
  void reset() {
    rx_->reset();
    last_ = Turn::kEmpty;
  }
  auto& ring() { return rx_->ring(); }

  bool lacks_buffers() const { return last_ == Turn::kNoBuffers; }

 private:
  Rx* rx_;
  Turn last_ = Turn::kEmpty;
};

}  // namespace vringlab::sim
