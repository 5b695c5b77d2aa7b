#include "core/backend/blk/file_store.h"

#include <fcntl.h>
#include <unistd.h>

namespace vringlab {

std::int64_t PosixFile::execute(const FileOp& op) {
  const auto offset = static_cast<off_t>(op.offset_bytes);
  const auto bytes = static_cast<off_t>(op.bytes);
  const auto count = static_cast<int>(op.parts.size());
  std::int64_t result = -1;
  switch (op.kind) {
    case FileOpKind::kRead:
      result = preadv(fd_, op.parts.data(), count, offset);
      break;
    case FileOpKind::kWrite:
      result = pwritev(fd_, op.parts.data(), count, offset);
      break;
    case FileOpKind::kSync:
      result = fdatasync(fd_);
      break;
    case FileOpKind::kPunch:
      result = fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, bytes);
      break;
    case FileOpKind::kZero:
      result = fallocate(fd_, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, offset, bytes);
      break;
  }
  return result < 0 ? -errno : result;
}

}  // namespace vringlab
