// The thread that serves block queues, in the kernel or in a VMM: it tells the driver of
// what has completed, takes new requests, and sleeps when there is neither.
#pragma once

#include <vector>

#include "core/device/turn.h"
#include "sim/access/model_access.h"
#include "sim/host/host_file.h"
#include "sim/host/sleeper.h"

namespace vringlab::sim {

// One queue and what has completed of it.
template <class Engine, class Store>
class BlkTask {
 public:
  BlkTask(Engine& engine, Store& store, DeviceContext& context, std::uint32_t ring_size)
      : engine_(&engine), store_(&store), context_(&context) {
    done_.reserve(ring_size);
  }

  Engine& engine() { return *engine_; }
  Store& store() { return *store_; }
  DeviceContext& context() { return *context_; }
  bool has_done() const { return next_done_ < done_.size(); }
  bool ready() const { return ready_; }
  bool broken() const { return broken_; }

  // The store has done with a request.
  void done(std::uint16_t slot) { done_.push_back(slot); }
  // There may be requests.
  void kick() {
    ready_ = !broken_;
    again_ = true;
  }

  // One completion, and the driver told after the last of those at hand.
  void complete_one(Core& core) {
    const std::uint16_t slot = done_[next_done_++];
    if constexpr (requires { store_->begin_completion(core); }) store_->begin_completion(core);
    complete(slot);
    if (has_done()) return;
    done_.clear();
    next_done_ = 0;
    engine_->flush();
    if (engine_->arm()) ready_ = !broken_;  // what found no room may have it now
  }
  // A request that the store has done with, and those merged behind it.
  void complete(std::uint16_t slot) {
    if constexpr (requires { Store::kLast; }) {
      while (slot != Store::kLast) {
        const std::uint16_t next = store_->done(slot);
        engine_->complete(slot, BlkStatus::kOk);
        slot = next;
      }
    } else {
      if constexpr (requires { store_->done(slot); }) store_->done(slot);
      engine_->complete(slot, BlkStatus::kOk);
    }
  }

  // Takes one request; false: there is none, or no room for it.
  bool take_one(Core& core) {
    again_ = false;
    const Turn turn = engine_->step();
    if (turn == Turn::kPacket || turn == Turn::kYield)
      core.run(operation_index(Op::kUnmodelledBlk));
    if (turn == Turn::kPacket) return true;
    if constexpr (requires { store_->any_at_once(); }) {
      while (store_->any_at_once()) done(store_->take_at_once());
    }
    broken_ = turn == Turn::kBroken;
    ready_ = !broken_ && (turn == Turn::kYield || engine_->arm() || again_);
    return false;
  }

 private:
  Engine* engine_;
  Store* store_;
  DeviceContext* context_;
  std::vector<std::uint16_t> done_;  // slots
  std::size_t next_done_ = 0;        // of them, not taken
  bool ready_ = false;
  bool again_ = false;  // kicked since its last turn began
  bool broken_ = false;
};

template <class Task>
class BlkThread {
 public:
  // `event_loop`: of a VMM, which asks its kernel what there is before each turn.
  BlkThread(Core& core, Signals& signals, bool event_loop)
      : core_(&core), sleeper_(core, signals), event_loop_(event_loop) {}

  void serve(Task& task) { tasks_.push_back(&task); }

  const Core& core() const { return *core_; }
  bool runnable() const { return sleeper_.awake(); }
  std::uint64_t wakeups() const { return sleeper_.wakeups(); }

  // A thread that waits inside a file is not woken by anything else.
  void wake(std::uint64_t at_ps) {
    if (blocked_ == nullptr) sleeper_.wake(at_ps, Op::kScheduleIn);
  }
  void resume(std::uint64_t at_ps) { sleeper_.wake(at_ps, Op::kFileResume); }
  FileOp* op_in_file() { return blocked_op(); }

  void step() {
    if (blocked_ != nullptr) return step_blocked();
    if (event_loop_ && !in_turn_) core_->run(operation_index(Op::kVmmTurn));
    in_turn_ = true;
    for (std::size_t tried = 0; tried < tasks_.size(); ++tried) {
      if (step_task(*tasks_[at_])) return;
      next();
    }
    in_turn_ = false;
    sleeper_.sleep();
  }

  // Takes what there is on `core`, whose virtual processor has left guest mode for it.
  void serve_on(Core& core, Task& task) {
    task.context().core = &core;
    task.kick();
    while (task.ready() && task.take_one(core)) {
    }
    task.context().core = core_;
    if (task.has_done() || task.ready()) wake(core.now());
  }

 private:
  bool step_task(Task& task) {
    if (task.has_done()) {
      task.complete_one(*core_);
      return true;
    }
    if (!task.ready()) return false;
    const bool took = task.take_one(*core_);
    if (task.store().blocked()) {
      blocked_ = &task;
      sleeper_.sleep();
    }
    const bool more = took || task.has_done() || task.ready() || blocked_ != nullptr;
    if (!took && more) next();
    return more;
  }

  void next() { at_ = at_ + 1 < tasks_.size() ? at_ + 1 : 0; }

  void step_blocked() {
    if constexpr (requires(Task t) { t.store().go_on(); }) {
      Task& task = *blocked_;
      if (!task.store().go_on()) return sleeper_.sleep();
      blocked_ = nullptr;
      task.complete(task.store().slot());
      task.kick();
    }
  }
  FileOp* blocked_op() {
    if constexpr (requires(Task t) { t.store().op(); }) {
      if (blocked_ != nullptr) return &blocked_->store().op();
    }
    return nullptr;
  }

  Core* core_;
  Sleeper sleeper_;
  bool event_loop_;
  std::vector<Task*> tasks_;
  std::size_t at_ = 0;       // whose turn it is
  Task* blocked_ = nullptr;  // whose request the thread waits for
  bool in_turn_ = false;
};

}  // namespace vringlab::sim
