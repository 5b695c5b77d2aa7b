// Threads of a VMM that each read or write the file for one request at a time.
#pragma once

#include <vector>

#include "sim/host/host_file.h"
#include "sim/host/sleeper.h"
#include "sim/machine/group.h"

namespace vringlab::sim {

// What a thread is given: requests of a queue whose bytes follow one another.
struct PoolJob {
  std::uint16_t queue = 0;
  std::uint16_t first_slot = 0;
  std::uint16_t last_slot = 0;
  BlkOp op = BlkOp::kRead;
  std::uint64_t offset = 0;  // bytes
  std::uint64_t bytes = 0;
};

struct PoolDone {
  PoolJob job;
  std::uint64_t at_ps = 0;
};

// What the threads share.
struct PoolState {
  std::vector<PoolJob> waiting;  // in a ring
  std::size_t first = 0;
  std::size_t count = 0;
  std::vector<PoolDone> done;  // and the event loop not told

  void push(const PoolJob& job) {
    if (count == waiting.size()) grow();
    waiting[(first + count++) % waiting.size()] = job;
  }
  PoolJob pop() {
    const PoolJob job = waiting[first];
    first = (first + 1) % waiting.size();
    --count;
    return job;
  }

 private:
  void grow() {
    std::rotate(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(first),
                waiting.end());
    first = 0;
    waiting.resize(std::max<std::size_t>(64, 2 * waiting.size()));
  }
};

class PoolThread {
 public:
  PoolThread(Core& core, Signals& signals, HostFile& file, PoolState& pool, std::uint16_t index)
      : core_(&core), sleeper_(core, signals), file_(&file), pool_(&pool), index_(index) {}

  const Core& core() const { return *core_; }
  bool runnable() const { return sleeper_.awake(); }
  bool idle() const { return !active_ && !sleeper_.awake(); }
  FileOp& op() { return op_; }

  void wake(std::uint64_t at_ps) { sleeper_.wake(at_ps, Op::kScheduleIn); }
  void resume(std::uint64_t at_ps) { sleeper_.wake(at_ps, Op::kFileResume); }

  void step() {
    if (!active_ && !begin()) return sleeper_.sleep();
    if (!file_->advance(*core_, index_, op_)) return sleeper_.sleep();
    active_ = false;
    core_->run(operation_index(Op::kPoolDone));
    pool_->done.push_back({job_, core_->now()});
  }

 private:
  bool begin() {
    if (pool_->count == 0) return false;
    job_ = pool_->pop();
    op_ = {.op = job_.op, .offset = job_.offset, .bytes = job_.bytes};
    active_ = true;
    core_->run(operation_index(Op::kPoolCall));
    return true;
  }

  Core* core_;
  Sleeper sleeper_;
  HostFile* file_;
  PoolState* pool_;
  std::uint16_t index_;
  PoolJob job_;
  FileOp op_;
  bool active_ = false;
};

class ThreadPool {
 public:
  explicit ThreadPool(Group<PoolThread>& threads, PoolState& state)
      : threads_(&threads), state_(&state) {}

  // A thread that has nothing to do takes it, else the first that has done.
  void add(std::uint64_t at_ps, const PoolJob& job) {
    state_->push(job);
    for (std::size_t i = 0; i < threads_->size(); ++i) {
      if (!(*threads_)[i].idle()) continue;
      return (*threads_)[i].wake(at_ps);
    }
  }

 private:
  Group<PoolThread>* threads_;
  PoolState* state_;
};

}  // namespace vringlab::sim
