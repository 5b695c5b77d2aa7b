// A disk that is a file, each request done at once by system calls. The file is the seam:
// PosixFile, or a double that loses power.
#pragma once

#include <vector>

#include "core/backend/blk/file_request.h"

namespace vringlab {

// An open file or block device of at least the disk's capacity; the caller's to close.
class PosixFile {
 public:
  explicit PosixFile(int fd) : fd_(fd) {}
  std::int64_t execute(const FileOp& op);

 private:
  int fd_;
};
static_assert(FileOps<PosixFile>);

template <FileOps F>
class FileStore {
 public:
  explicit FileStore(F& file) : file_(file), parts_(kFileParts) {}

  // The kernel moves data from and to guest memory itself: nothing goes through the payload.
  template <PayloadAccess P>
  Submitted submit(P&, const BlkIo& io, BlkStatus& status) {
    request_.start(io);
    while (!request_.done()) request_.result(file_.execute(request_.next(parts_)));
    status = flushes_.record(io.op, request_.status());
    return Submitted::kDone;
  }

  void end_batch() {}

 private:
  F& file_;
  FileRequest request_;  // the request at hand
  FlushRecord flushes_;
  std::vector<iovec> parts_;  // of the operation at hand
};

}  // namespace vringlab
