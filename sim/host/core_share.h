// A core and the threads on it: one of them has it, until it sleeps or others wait and its
// time slice is over. Then the one that has waited longest is next.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/access/operations.h"
#include "sim/machine/core.h"

namespace vringlab::sim {

class CoreShare {
 public:
  explicit CoreShare(Core& core) : core_(&core) {}

  Core& core() { return *core_; }
  const Core& core() const { return *core_; }

  // One thread more, which sleeps; its number.
  std::size_t join() { return threads_++; }
  bool runs(std::size_t thread) const { return running_ == thread; }

  // A thread that slept is woken at `at_ps`. The clock stays while another one has the core.
  void wake(std::size_t thread, std::uint64_t at_ps) {
    const Waiting woken{thread, at_ps + core_->machine().costs.until_switch_ps};
    if (running_ != kNone) {
      waiting_.push_back(woken);
    } else {
      switch_to(woken);
    }
  }

  // The thread that has the core has nothing more to do.
  void sleep() {
    running_ = kNone;
    if (!waiting_.empty()) switch_to(take(longest()));
  }

  // The thread that has the core goes on; here it can be made to wait.
  void may_switch() {
    if (waiting_.empty()) return;
    if (core_->now() - since_ps_ < core_->machine().costs.time_slice_ps) return;
    const auto next = longest();
    if (next->ready_ps > core_->now()) return;  // still on its way
    const Waiting stopped{running_, core_->now()};
    switch_to(take(next));
    waiting_.push_back(stopped);
  }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;
  struct Waiting {
    std::size_t thread;
    std::uint64_t ready_ps;  // when it can run
  };
  using Place = std::vector<Waiting>::iterator;

  // Of several since the same time the one that came first.
  Place longest() { return std::ranges::min_element(waiting_, {}, &Waiting::ready_ps); }
  Waiting take(Place place) {
    const Waiting taken = *place;
    waiting_.erase(place);
    return taken;
  }
  // Nobody else can run until then, or the time is past.
  void switch_to(const Waiting& next) {
    core_->idle_until(next.ready_ps);
    core_->run(operation_index(Op::kScheduleIn));
    running_ = next.thread;
    since_ps_ = core_->now();
  }

  Core* core_;
  std::size_t threads_ = 0;
  std::size_t running_ = kNone;   // which thread has the core
  std::uint64_t since_ps_ = 0;    // when it got it
  std::vector<Waiting> waiting_;  // can run, or will soon, and don't have the core
};

}  // namespace vringlab::sim
