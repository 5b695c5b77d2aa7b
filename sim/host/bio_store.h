// The store of a vhost-blk that gives requests to the block layer and goes on: no file,
// no page cache, no copy.
#pragma once

#include <vector>

#include "sim/access/model_access.h"
#include "sim/host/blk_bytes.h"
#include "sim/host/disk.h"
#include "sim/machine/signals.h"

namespace vringlab::sim {

constexpr DiskRequest::Op disk_op(BlkOp op) {
  if (op == BlkOp::kRead) return DiskRequest::Op::kRead;
  return op == BlkOp::kFlush ? DiskRequest::Op::kFlush : DiskRequest::Op::kWrite;
}

class BioStore {
 public:
  // `disk`: null for a RAM disk, which is done when it has been copied.
  BioStore(DeviceContext& context, Disk* disk, BlkBytes& bytes, std::uint16_t queue,
           std::uint32_t ring_size)
      : context_(&context), disk_(disk), bytes_(&bytes), queue_(queue), kept_(ring_size) {}

  Submitted submit(ModelPayload&, const BlkIo& io, BlkStatus& status) {
    Core& core = *context_->core;
    core.run_times(operation_index(Op::kPinPage), pages_of(io.bytes));
    core.run(operation_index(Op::kBioSubmit));
    if (disk_ == nullptr) {
      core.run_times(operation_index(Op::kRamPage), pages_of(io.bytes));
      bytes_->execute(io);
      status = BlkStatus::kOk;
      return Submitted::kDone;
    }
    kept_[io.slot] = io;
    disk_->submit(
        core.now(),
        {disk_op(io.op), io.offset_bytes, io.bytes, {DiskClient::Kind::kRequest, queue_, io.slot}});
    return Submitted::kPending;
  }
  void end_batch() {}

  void begin_completion(Core& core) const { core.run(operation_index(Op::kBioComplete)); }
  // The disk has done with a request.
  void done(std::uint16_t slot) { bytes_->execute(kept_[slot]); }
  bool blocked() const { return false; }

 private:
  DeviceContext* context_;
  Disk* disk_;
  BlkBytes* bytes_;
  std::uint16_t queue_;
  std::vector<BlkIo> kept_;  // by slot, while the disk has it
};

}  // namespace vringlab::sim
