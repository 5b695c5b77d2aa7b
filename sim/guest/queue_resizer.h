// A guest's receive queue that is given another size while packets come, as by ethtool -G:
// what of that is the guest's, and two places for its ring.
#pragma once

#include <cassert>
#include <optional>
#include <utility>
#include <vector>

#include "core/driver/queue_reset.h"
#include "sim/access/model_access.h"

namespace vringlab::sim {

// Places had once, of sizes that differ: a resize takes the one that the queue is not in.
class RingPlaces {
 public:
  using Place = RingPlace<ModelDriverAccess>;

  explicit RingPlaces(std::vector<Place> places) : places_(std::move(places)) {}

  std::optional<Place> allocate(std::uint32_t size) const {
    for (const Place& place : places_) {
      if (place.config.size == size) return place;
    }
    return std::nullopt;
  }
  void release(const QueueConfig&) {}

  // The size that a queue of `size` entries gets next.
  std::uint32_t next(std::uint32_t size) const {
    return places_[places_[0].config.size == size ? 1 : 0].config.size;
  }

 private:
  std::vector<Place> places_;
};

// Of a receive queue that never is.
struct NeverResized {
  static constexpr bool kResizes = false;
  bool ready() const { return false; }
  bool waits() const { return false; }
};

// `Transport` is a QueueTransport that begins apart: ask() returns at once, and reset_queue()
// may be called when the device has stopped. A step can't wait for another actor.
template <class Transport>
class QueueResizer {
 public:
  static constexpr bool kResizes = true;

  QueueResizer(Transport transport, RingPlaces places)
      : transport_(transport), places_(std::move(places)) {}

  // Is there something to do?
  bool ready() const { return state_ == State::kDue || state_ == State::kStopped; }
  // Does it wait for the device?
  bool waits() const { return state_ == State::kStopping; }
  bool due() const { return state_ == State::kDue; }
  std::uint64_t resizes() const { return resizes_; }
  // Packets that the device had delivered and the guest never took.
  std::uint64_t lost() const { return lost_; }

  // It shall be resized, `received` packets having been taken in all. False: not now. A queue
  // that is resized again before a packet came through might never bring one.
  bool demand(std::uint64_t received) {
    if (state_ != State::kIdle || received == received_) return false;
    state_ = State::kDue;
    return true;
  }
  void begin() {
    state_ = State::kStopping;
    transport_.ask();
  }
  void stopped() { state_ = State::kStopped; }

  // recycle(token) gets each buffer that is in the ring.
  template <class Recycle>
  void resize(DriverRing<ModelDriverAccess>& ring, std::uint64_t received, Recycle&& recycle) {
    lost_ = transport_.delivered() - received;
    [[maybe_unused]] const RingError error = resize_queue(
        ring, transport_, places_, places_.next(ring.state().size), std::forward<Recycle>(recycle));
    assert(error == RingError::kNone);
    received_ = received;
    ++resizes_;
    state_ = State::kIdle;
  }

 private:
  enum class State : std::uint8_t { kIdle, kDue, kStopping, kStopped };

  Transport transport_;
  RingPlaces places_;
  State state_ = State::kIdle;
  std::uint64_t received_ = 0;  // packets, at the last resize
  std::uint64_t resizes_ = 0;
  std::uint64_t lost_ = 0;
};

// Asks for it at a fixed rate.
class ResizeTimer {
 public:
  // `period_ps` 0: never.
  ResizeTimer(Core& core, Doorbells& bells, std::uint64_t period_ps)
      : core_(&core), bells_(&bells), period_ps_(period_ps) {
    core_->idle_until(period_ps_);
  }

  Core& core() { return *core_; }
  const Core& core() const { return *core_; }
  bool runnable() const { return period_ps_ > 0; }

  void step() {
    bells_->resize = true;
    bells_->resize_ps = core_->now();
    core_->idle_until(core_->now() + period_ps_);
  }

 private:
  Core* core_;
  Doorbells* bells_;
  std::uint64_t period_ps_;
};

}  // namespace vringlab::sim
