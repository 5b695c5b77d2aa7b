// The store of the vhost-blk of 2010: its thread reads and writes a file and waits for
// it, one request at a time.
#pragma once

#include "sim/host/blk_bytes.h"
#include "sim/host/host_file.h"

namespace vringlab::sim {

class FileStore {
 public:
  FileStore(DeviceContext& context, HostFile& file, BlkBytes& bytes, std::uint16_t thread)
      : context_(&context), file_(&file), bytes_(&bytes), thread_(thread) {}

  Submitted submit(ModelPayload&, const BlkIo& io, BlkStatus& status) {
    io_ = io;
    op_ = {.op = io.op, .offset = io.offset_bytes, .bytes = io.bytes};
    if (!go_on()) return Submitted::kPending;
    status = BlkStatus::kOk;
    return Submitted::kDone;
  }
  void end_batch() {}

  // The thread waits inside the file.
  bool blocked() const { return blocked_; }
  FileOp& op() { return op_; }
  // Called on the thread when the file has woken it; false: it waits again.
  bool go_on() {
    blocked_ = !file_->advance(*context_->core, thread_, op_);
    if (!blocked_) bytes_->execute(io_);
    return !blocked_;
  }
  std::uint16_t slot() const { return io_.slot; }

 private:
  DeviceContext* context_;
  HostFile* file_;
  BlkBytes* bytes_;
  std::uint16_t thread_;
  BlkIo io_;
  FileOp op_;
  bool blocked_ = false;
};

}  // namespace vringlab::sim
