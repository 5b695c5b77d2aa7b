// A vhost worker thread that serves several queues: each runs until it has nothing
// more or its weight is used up, then the next one has its turn.
#pragma once

#include <vector>

#include "core/device/turn.h"
#include "sim/access/model_access.h"
#include "sim/host/core_share.h"

namespace vringlab::sim {

// One queue's work on its worker's list.
template <class Device>
class VhostTask {
 public:
  VhostTask(Device& device, Op late) : device_(&device), late_(late) {}

  bool ready() const { return ready_; }
  bool broken() const { return broken_; }
  // There may be something to do: a kick, or a frame for the guest.
  void queue() {
    ready_ = !broken_;
    again_ = true;
  }

  // Takes at most one packet; false: the thread should look at its other work.
  bool step(Core& core) {
    if (first_) again_ = false;  // what queued it is being done
    first_ = false;
    const Turn turn = device_->step();
    if (turn == Turn::kPacket) {
      core.run(operation_index(late_));
      return true;
    }
    end(core, turn);
    return false;
  }

 private:
  void end(Core& core, Turn turn) {
    if (turn == Turn::kYield) {
      core.run(operation_index(late_));
      core.run(operation_index(Op::kRequeue));
    } else {
      broken_ = turn == Turn::kBroken;
      ready_ = !broken_ && (device_->arm() || again_);
    }
    again_ = false;
    first_ = true;
  }

  Device* device_;
  Op late_;
  bool ready_ = false;
  bool again_ = false;  // queued since its run began
  bool first_ = true;   // the next step begins a run
  bool broken_ = false;
};

template <class Tx, class Rx>
class VhostThread {
 public:
  explicit VhostThread(CoreShare& share) : share_(&share), number_(share.join()) {}

  // Tasks outlive the thread's last step.
  void serve(VhostTask<Tx>& task) { tx_.push_back(&task); }
  void serve(VhostTask<Rx>& task) { rx_.push_back(&task); }

  Core& core() { return share_->core(); }
  const Core& core() const { return share_->core(); }
  bool runnable() const { return share_->runs(number_); }
  std::uint64_t wakeups() const { return wakeups_; }
  std::uint64_t step_ps() const { return step_ps_; }  // when the last step began

  // Work was queued at `at_ps`; a thread that sleeps is woken.
  void wake(std::uint64_t at_ps) {
    if (awake_) return;
    awake_ = true;
    ++wakeups_;
    share_->wake(number_, at_ps);
  }

  void step() {
    step_ps_ = core().now();
    if (work()) return share_->may_switch();
    awake_ = false;
    share_->sleep();
  }

 private:
  // A step of the queue whose turn it is; false: none has anything to do.
  bool work() {
    for (std::size_t tried = 0; tried < tx_.size() + rx_.size(); ++tried) {
      if (ready()) {
        if (!step_one()) next();
        return true;
      }
      next();
    }
    return false;
  }
  bool ready() const {
    return at_ < tx_.size() ? tx_[at_]->ready() : rx_[at_ - tx_.size()]->ready();
  }
  bool step_one() {
    return at_ < tx_.size() ? tx_[at_]->step(core()) : rx_[at_ - tx_.size()]->step(core());
  }
  void next() { at_ = at_ + 1 < tx_.size() + rx_.size() ? at_ + 1 : 0; }

  CoreShare* share_;
  std::size_t number_;  // among the threads of its core
  std::vector<VhostTask<Tx>*> tx_;
  std::vector<VhostTask<Rx>*> rx_;
  std::size_t at_ = 0;  // whose turn it is
  bool awake_ = false;  // has the core, or waits for it
  std::uint64_t wakeups_ = 0;
  std::uint64_t step_ps_ = 0;
};

// A queue's work on a worker's list, and the worker.
template <class Thread, class Device>
struct ServedBy {
  VhostTask<Device> task;
  Thread* thread;

  ServedBy(Device& device, Op late, Thread& serving) : task(device, late), thread(&serving) {
    thread->serve(task);
  }
  void wake(std::uint64_t at_ps) {
    task.queue();
    thread->wake(at_ps);
  }
};

}  // namespace vringlab::sim
