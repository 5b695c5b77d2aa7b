// A packet generator in the host kernel, as pktgen: puts frames into a TAP device.
#pragma once

#include "sim/host/tap_ring.h"
#include "sim/machine/arrivals.h"

namespace vringlab::sim {

class Generator {
 public:
  Generator(Core& core, TapRing& ring, std::uint32_t frame_bytes, const Arrivals& arrivals)
      : core_(&core), ring_(&ring), frame_bytes_(frame_bytes), arrivals_(arrivals) {
    arrivals_.wait_for(core);
  }

  Core& core() { return *core_; }
  const Core& core() const { return *core_; }
  bool runnable() const { return true; }
  std::uint64_t made() const { return made_; }
  std::uint64_t lost() const { return lost_; }

  // Makes one frame; it is lost if the ring has no room.
  void step() {
    ++made_;
    arrived_ = ring_->put(*core_, frame_bytes_, made_ - lost_ - 1);
    if (!arrived_) ++lost_;
    arrived_ps_ = core_->now();
    arrivals_.wait_for(*core_);
  }

  // Did the last step put a frame in, and when? Asked once.
  bool arrived() const { return arrived_; }
  std::uint64_t take_arrival() {
    arrived_ = false;
    return arrived_ps_;
  }
  // The reader sleeps, so this core wakes it.
  void wakes() {
    core_->charge(Cost::kEventfdSignal, Step::kGenerate,
                  core_->machine().costs[Cost::kEventfdSignal]);
  }

 private:
  Core* core_;
  TapRing* ring_;
  std::uint32_t frame_bytes_;
  Arrivals arrivals_;
  std::uint64_t made_ = 0;
  std::uint64_t lost_ = 0;
  bool arrived_ = false;
  std::uint64_t arrived_ps_ = 0;
};

}  // namespace vringlab::sim
