// A virtual processor whose processes read and write a disk: system call, file and block
// layer, requests; and the interrupts of its queue. A port says how requests get to the
// disk and back.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "sim/access/operations.h"
#include "sim/guest/blk_work.h"
#include "sim/machine/signals.h"

namespace vringlab::sim {

struct BlkVcpuConfig {
  std::uint64_t request_bytes = 524288;  // of the largest request
  bool sync = true;                      // a system call waits for its I/O
  bool fills = false;                    // data is written and compared, not only its time
};

// One request as a port gets it.
struct BlkGuestRequest {
  BlkOp op = BlkOp::kRead;
  std::uint64_t offset = 0;  // bytes, as the guest means it
  std::uint64_t bytes = 0;
  GuestAddr data;
  std::byte* data_host = nullptr;
  GuestAddr header;  // the status byte follows it
  std::byte* header_host = nullptr;
  std::uint64_t token = 0;
};

template <class Port>
class BlkVcpu {
 public:
  BlkVcpu(Core& core, Port& port, BlkWork& work, Signals& signals, const BlkVcpuConfig& config)
      : core_(&core), port_(&port), work_(&work), signals_(&signals), config_(config) {}

  void own(std::size_t job) { jobs_.push_back({&work_->jobs[job], job}); }
  // All of them, by the numbers that jobs name them by.
  void set_peers(std::vector<BlkVcpu*> peers) { peers_ = std::move(peers); }

  Core& core() { return *core_; }
  const Core& core() const { return *core_; }
  bool runnable() const { return awake_; }
  std::uint64_t interrupts() const { return interrupts_; }
  // Its first step is the first of its jobs.
  void start() { awake_ = true; }

  // The device calls at `at_ps`.
  void interrupt(std::uint64_t at_ps) {
    if (called_) return;
    called_ = true;
    called_ps_ = at_ps + irq_latency_ps();
    wake(called_ps_);
  }

  void step() {
    if (handling_) return complete_one();
    if (called_ && called_ps_ <= core_->now()) return begin_interrupt();
    if (BlkWorkJob* job = next_job()) return build_one(*job);
    if (called_) return core_->idle_until(called_ps_);
    if (waits_for_room() && port_->publish(*core_)) return;  // what was built makes room
    awake_ = false;
    if (!waits_for_room()) return;
    stuck_ = true;
    ++work_->stuck;
  }

 private:
  struct Owned {
    BlkWorkJob* job;
    std::size_t number;
  };

  // A processor of the host takes its interrupts itself, and is awake when it has one.
  std::uint64_t irq_latency_ps() const {
    return Port::kVirtual ? core_->machine().costs.irq_latency_ps : 0;
  }
  // A halted processor is a thread of the host that sleeps.
  void wake(std::uint64_t at_ps) {
    if (awake_) return;
    awake_ = slept_ = true;
    signals_->woke = true;
    core_->idle_until(at_ps + (Port::kVirtual ? core_->machine().costs.wakeup_ps : 0));
  }

  void begin_interrupt() {
    called_ = false;
    handling_ = true;
    ++interrupts_;
    port_->begin_interrupt(*core_, std::exchange(slept_, false));
  }
  void complete_one() {
    const std::optional<std::uint64_t> token = port_->reap(*core_);
    if (token) return complete(*token);
    if (port_->end_interrupt(*core_)) return;  // there is more
    handling_ = false;
  }

  void complete(std::uint64_t token) {
    core_->run(operation_index(Op::kBlkRequestDone));
    const auto [number, at, request] = BlkWork::parts(token);
    BlkWorkJob& job = work_->jobs[number];
    BlkIoSlot& slot = job.slots[at];
    ++work_->requests;
    if (port_->failed(slot, request)) ++work_->failed;
    if (slot.plan.op == BlkOp::kRead)
      core_->run_times(operation_index(Op::kBlkPageDone), pages_of(bytes_of(slot, request)));
    if (work_->stuck > 0) wake_stuck();
    if (--slot.left > 0 || !slot.built) return;
    finish(slot);
    job.idle.push_back(at);
    if (job.finished()) --work_->running;
    BlkVcpu& owner = *peers_[job.vcpu];
    if (&owner != this) owner.wake(core_->now() + irq_latency_ps());
  }
  std::uint64_t bytes_of(const BlkIoSlot& slot, std::uint64_t request) const {
    return std::min(slot.plan.bytes - request * config_.request_bytes, config_.request_bytes);
  }

  // The queue has room again for processors that found it full.
  void wake_stuck() {
    work_->stuck = 0;
    for (BlkVcpu* peer : peers_) {
      if (!std::exchange(peer->stuck_, false) || peer == this) continue;
      peer->wake(core_->now() + irq_latency_ps());
    }
  }
  void finish(const BlkIoSlot& slot) {
    if (slot.plan.op == BlkOp::kFlush) return;
    ++work_->ios;
    work_->bytes += slot.plan.bytes;
    work_->latency.add(core_->now() - slot.started_ps);
    work_->last_done_ps = std::max(work_->last_done_ps, core_->now());
    if (config_.fills && work_->check_data && slot.plan.op == BlkOp::kRead)
      work_->wrong_bytes += wrong_bytes(slot.memory.data_host, slot.plan);
  }

  bool waits_for_room() const {
    return std::ranges::any_of(
        jobs_, [](const Owned& job) { return job.job->current != BlkWorkJob::kNoSlot; });
  }

  // Of the jobs that can go on, the one after the last.
  BlkWorkJob* next_job() {
    for (std::size_t tried = 0; tried < jobs_.size(); ++tried) {
      BlkWorkJob& job = *jobs_[at_].job;
      if (job.can_go_on() && (job.current == BlkWorkJob::kNoSlot || port_->has_room())) return &job;
      next_turn();
    }
    return nullptr;
  }

  // One request of the job's I/O at hand; the first comes with the application's part.
  void build_one(BlkWorkJob& job) {
    if (job.current == BlkWorkJob::kNoSlot) begin_io(job);
    if (!port_->has_room()) return;
    BlkIoSlot& slot = job.slots[job.current];
    const BlkGuestRequest request = next_request(slot);
    core_->run(operation_index(Op::kBlkRequest));
    core_->run_times(operation_index(Op::kBlkPage), pages_of(request.bytes));
    port_->add(*core_, request);
    if (!slot.built) return;
    port_->publish(*core_);
    job.waits = config_.sync;
    job.current = BlkWorkJob::kNoSlot;
    next_turn();
  }
  void next_turn() { at_ = at_ + 1 < jobs_.size() ? at_ + 1 : 0; }

  void begin_io(BlkWorkJob& job) {
    if (job.waits) core_->run(operation_index(Op::kBlkJobSwitch));
    job.waits = false;
    job.current = job.idle.back();
    job.idle.pop_back();
    BlkIoSlot& slot = job.slots[job.current];
    slot.begin(job.stream.next(), core_->now());
    core_->run(operation_index(Op::kBlkApp));
    core_->run(operation_index(config_.sync ? Op::kBlkCall : Op::kBlkAioCall));
    if (config_.fills && slot.plan.op == BlkOp::kWrite)
      fill_pattern(slot.memory.data_host, slot.plan);
  }

  BlkGuestRequest next_request(BlkIoSlot& slot) {
    const std::uint64_t at = slot.built_bytes;
    const std::uint64_t bytes = std::min(slot.plan.bytes - at, config_.request_bytes);
    const std::uint64_t place = slot.requests * BlkMemory::kRequestStride;
    const Owned& job = jobs_[at_];
    const std::uint64_t token = BlkWork::token(job.number, job.job->current, slot.requests);
    slot.built_bytes += bytes;
    slot.built = slot.built_bytes == slot.plan.bytes;
    ++slot.requests;
    ++slot.left;
    return {.op = slot.plan.op,
            .offset = slot.plan.offset + at,
            .bytes = bytes,
            .data = {slot.memory.data.value + at},
            .data_host = slot.memory.data_host + at,
            .header = {slot.memory.requests.value + place},
            .header_host = slot.memory.requests_host + place,
            .token = token};
  }

  Core* core_;
  Port* port_;
  BlkWork* work_;
  Signals* signals_;
  BlkVcpuConfig config_;
  std::vector<Owned> jobs_;  // that run on it
  std::vector<BlkVcpu*> peers_;
  std::size_t at_ = 0;  // whose turn it is
  bool awake_ = false;
  bool slept_ = false;   // since the last interrupt
  bool stuck_ = false;   // sleeps until its queue has room
  bool called_ = false;  // the device called, and that was not handled yet
  bool handling_ = false;
  std::uint64_t called_ps_ = 0;  // when the call arrives
  std::uint64_t interrupts_ = 0;
};

}  // namespace vringlab::sim
