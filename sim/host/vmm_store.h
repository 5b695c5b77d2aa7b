// The store of a VMM in user space: adjacent writes of a batch become one, and each then
// goes to a thread of a pool, or with the others of its batch to the kernel at once.
#pragma once

#include <vector>

#include "sim/host/bio_store.h"
#include "sim/host/thread_pool.h"

namespace vringlab::sim {

enum class IoEngine : std::uint8_t { kThreads, kAio, kUring };

struct VmmStoreConfig {
  IoEngine engine = IoEngine::kThreads;
  bool merge_writes = true;
  std::uint64_t merge_bytes = 2u << 20;  // of merged writes
};

class VmmStore {
 public:
  // `disk`: null for a RAM disk.
  VmmStore(DeviceContext& context, Disk* disk, ThreadPool& pool, BlkBytes& bytes,
           std::uint16_t queue, std::uint32_t ring_size, const VmmStoreConfig& config)
      : context_(&context),
        disk_(disk),
        pool_(&pool),
        bytes_(&bytes),
        queue_(queue),
        config_(config),
        kept_(ring_size),
        next_(ring_size) {}

  Submitted submit(ModelPayload&, const BlkIo& io, BlkStatus&) {
    context_->core->run(operation_index(Op::kVmmRequest));
    context_->core->run_times(operation_index(Op::kVmmSegment), io.pieces.size() + 2);
    kept_[io.slot] = io;
    next_[io.slot] = kLast;
    if (!merges(io)) {
      batch_.push_back({queue_, io.slot, io.slot, io.op, io.offset_bytes, io.bytes});
      return Submitted::kPending;
    }
    PoolJob& before = batch_.back();
    before.bytes += io.bytes;
    next_[before.last_slot] = io.slot;
    before.last_slot = io.slot;
    ++merged_;
    return Submitted::kPending;
  }

  void end_batch() {
    Core& core = *context_->core;
    if (config_.engine != IoEngine::kThreads && !batch_.empty())
      core.run(operation_index(Op::kAioCall));
    for (const PoolJob& job : batch_) {
      if (config_.engine == IoEngine::kThreads) {
        core.run(operation_index(Op::kThreadHandoff));
        pool_->add(core.now(), job);
      } else {
        submit(core, job);
      }
    }
    batch_.clear();
  }

  // The interrupt of the disk comes to the event loop's core; a pool's thread has had it.
  void begin_completion(Core& core) const {
    if (config_.engine != IoEngine::kThreads) core.run(operation_index(Op::kBioComplete));
  }
  // The bytes of a request, when it is done; then the one merged behind it, or kLast.
  static constexpr std::uint16_t kLast = UINT16_MAX;
  std::uint16_t done(std::uint16_t slot) {
    bytes_->execute(kept_[slot]);
    return next_[slot];
  }
  bool blocked() const { return false; }
  std::uint64_t merged() const { return merged_; }

  // Requests that were done as they were submitted.
  bool any_at_once() const { return next_at_once_ < at_once_.size(); }
  std::uint16_t take_at_once() {
    const std::uint16_t slot = at_once_[next_at_once_++];
    if (!any_at_once()) {
      at_once_.clear();
      next_at_once_ = 0;
    }
    return slot;
  }

 private:
  bool merges(const BlkIo& io) const {
    if (!config_.merge_writes || io.op != BlkOp::kWrite || batch_.empty()) return false;
    const PoolJob& before = batch_.back();
    return before.op == BlkOp::kWrite && before.offset + before.bytes == io.offset_bytes &&
           before.bytes + io.bytes <= config_.merge_bytes;
  }

  void submit(Core& core, const PoolJob& job) {
    core.run(
        operation_index(config_.engine == IoEngine::kAio ? Op::kAioRequest : Op::kUringRequest));
    core.run_times(operation_index(Op::kPinPage), pages_of(job.bytes));
    core.run(operation_index(Op::kBioSubmit));
    if (disk_ == nullptr) {
      core.run_times(operation_index(Op::kRamPage), pages_of(job.bytes));
      at_once_.push_back(job.first_slot);
      return;
    }
    disk_->submit(core.now(), {disk_op(job.op),
                               job.offset,
                               job.bytes,
                               {DiskClient::Kind::kRequest, queue_, job.first_slot}});
  }

  DeviceContext* context_;
  Disk* disk_;
  ThreadPool* pool_;
  BlkBytes* bytes_;
  std::uint16_t queue_;
  VmmStoreConfig config_;
  std::vector<PoolJob> batch_;       // taken and not begun
  std::vector<BlkIo> kept_;          // by slot
  std::vector<std::uint16_t> next_;  // by slot: the request merged behind it
  std::vector<std::uint16_t> at_once_;
  std::size_t next_at_once_ = 0;  // of them, not taken
  std::uint64_t merged_ = 0;
};

}  // namespace vringlab::sim
