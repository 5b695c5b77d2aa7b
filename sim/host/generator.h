// Who in the host puts frames into a TAP device: the generator of its kernel, as pktgen, or a
// process that sends by a UDP socket whose route is that device.
#pragma once

#include "sim/host/tap_ring.h"
#include "sim/machine/arrivals.h"

namespace vringlab::sim {

// What it costs whoever sends.
struct SenderWork {
  TapRing::Work frame;
  Cost wake = Cost::kEventfdSignal;  // of who sleeps for frames
};

class Generator {
 public:
  // `skip_losses`: frames that a full ring loses one after the other are accounted in a
  // row; only for one that makes frames as fast as it can.
  Generator(Core& core, TapRing& ring, const SenderWork& work, std::uint32_t frame_bytes,
            const Arrivals& arrivals, bool skip_losses)
      : core_(&core),
        ring_(&ring),
        work_(work),
        frame_bytes_(frame_bytes),
        arrivals_(arrivals),
        skip_losses_(skip_losses) {
    arrivals_.wait_for(core);
  }

  Core& core() { return *core_; }
  const Core& core() const { return *core_; }
  bool runnable() const { return !losing_; }
  std::uint64_t made() const { return made_; }
  std::uint64_t lost() const { return lost_; }

  // Makes one frame; it is lost if the ring has no room.
  void step() {
    ++made_;
    arrived_ = ring_->put(*core_, frame_bytes_, made_ - lost_ - 1, work_.frame);
    if (!arrived_) ++lost_;
    losing_ = skip_losses_ && !arrived_;
    arrived_ps_ = core_->now();
    arrivals_.wait_for(*core_);
  }

  // The reader made room in a step that began at `start_ps`; `first`: at equal time this
  // side came before it. Each frame lost until then cost the same, as nobody wrote the
  // line of the full entry meanwhile.
  void freed(std::uint64_t start_ps, bool first) {
    if (!losing_) return;
    losing_ = false;
    const std::size_t loss = operation_index(work_.frame.full);
    const std::uint64_t lost =
        polls_before(core_->now(), start_ps, core_->operation_ps(loss), first);
    core_->run_times(loss, lost);
    made_ += lost;
    lost_ += lost;
  }

  // Did the last step put a frame in, and when? Asked once.
  bool arrived() const { return arrived_; }
  std::uint64_t take_arrival() {
    arrived_ = false;
    return arrived_ps_;
  }
  // The reader sleeps, so this core wakes it.
  void wakes() { core_->charge(work_.wake, Step::kGenerate, core_->machine().costs[work_.wake]); }

 private:
  Core* core_;
  TapRing* ring_;
  SenderWork work_;
  std::uint32_t frame_bytes_;
  Arrivals arrivals_;
  bool skip_losses_;
  bool losing_ = false;  // the ring is full; losses are accounted later
  std::uint64_t made_ = 0;
  std::uint64_t lost_ = 0;
  bool arrived_ = false;
  std::uint64_t arrived_ps_ = 0;
};

}  // namespace vringlab::sim
