#include "core/backend/blk/uring_store.h"

#include <fcntl.h>
#include <linux/falloc.h>

namespace vringlab {
namespace {

io_uring_sqe operation(std::uint8_t code, int fd, std::uint64_t offset_bytes) {
  io_uring_sqe sqe{};
  sqe.opcode = code;
  sqe.fd = fd;
  sqe.off = offset_bytes;
  return sqe;
}

io_uring_sqe transfer(std::uint8_t code, int fd, const FileOp& op) {
  io_uring_sqe sqe = operation(code, fd, op.offset_bytes);
  sqe.addr = reinterpret_cast<std::uintptr_t>(op.parts.data());
  sqe.len = static_cast<std::uint32_t>(op.parts.size());
  return sqe;
}

io_uring_sqe allocation(std::uint32_t mode, int fd, const FileOp& op) {
  io_uring_sqe sqe = operation(IORING_OP_FALLOCATE, fd, op.offset_bytes);
  sqe.addr = op.bytes;
  sqe.len = mode | FALLOC_FL_KEEP_SIZE;
  return sqe;
}

io_uring_sqe operation_of(const FileOp& op, int fd) {
  switch (op.kind) {
    case FileOpKind::kRead:
      return transfer(IORING_OP_READV, fd, op);
    case FileOpKind::kWrite:
      return transfer(IORING_OP_WRITEV, fd, op);
    case FileOpKind::kPunch:
      return allocation(FALLOC_FL_PUNCH_HOLE, fd, op);
    case FileOpKind::kZero:
      return allocation(FALLOC_FL_ZERO_RANGE, fd, op);
    case FileOpKind::kSync:
      break;
  }
  io_uring_sqe sqe = operation(IORING_OP_FSYNC, fd, 0);
  sqe.fsync_flags = IORING_FSYNC_DATASYNC;
  return sqe;
}

}  // namespace

UringStore::UringStore(int fd, std::uint32_t max_requests)
    : fd_(fd), requests_(max_requests), idle_(max_requests), queue_(max_requests) {
  for (std::uint32_t i = 0; i < max_requests; ++i) idle_[i] = i;
}

UringStore::~UringStore() {
  while (pending() > 0) {
    wait();
    reap([](std::uint16_t, BlkStatus) {});
  }
}

Submitted UringStore::submit(const BlkIo& io, BlkStatus& status) {
  if (idle_.empty()) return Submitted::kBusy;
  const std::uint32_t index = idle_.back();
  FileRequest& file = requests_[index].file;
  file.start(io);
  if (file.done()) {  // there was nothing to do
    status = file.status();
    return Submitted::kDone;
  }
  idle_.pop_back();
  push_operation(index);
  return Submitted::kPending;
}

void UringStore::push_operation(std::uint32_t index) {
  Request& request = requests_[index];
  io_uring_sqe sqe = operation_of(request.file.next(request.parts), fd_);
  sqe.user_data = index;
  queue_.push(sqe);
}

bool UringStore::next_done(Done& done) {
  for (io_uring_cqe result; queue_.pop(result);) {
    const auto index = static_cast<std::uint32_t>(result.user_data);
    FileRequest& file = requests_[index].file;
    file.result(result.res);
    if (!file.done()) {
      push_operation(index);
      continue;
    }
    idle_.push_back(index);
    done = {file.io().slot, flushes_.record(file.io().op, file.status())};
    return true;
  }
  return false;
}

void UringStore::wait() {
  if (pending() > 0) queue_.enter(1);
}

}  // namespace vringlab
