// A request as operations on a file, one after another. Pure: it says what is to be done next and
// is told what came of it, so that one source serves files read at once and by io_uring.
#pragma once

#include <sys/uio.h>

#include <cerrno>
#include <concepts>

#include "core/backend/blk/store.h"

namespace vringlab {

enum class FileOpKind : std::uint8_t {
  kRead,   // into parts
  kWrite,  // from parts
  kSync,   // all that was written is to survive a power cut
  kPunch,  // give the storage of a range back; it reads as zeros
  kZero    // the range reads as zeros
};

struct FileOp {
  FileOpKind kind = FileOpKind::kSync;
  std::span<const iovec> parts;    // of kRead and kWrite
  std::uint64_t offset_bytes = 0;  // of all but kSync
  std::uint64_t bytes = 0;         // of all but kSync
};

// `execute` returns the bytes moved by kRead or kWrite, which may be fewer than asked for, 0 from
// the others, or a negative errno.
template <class F>
concept FileOps = requires(F f, const FileOp& op) {
  { f.execute(op) } -> std::same_as<std::int64_t>;
};

// Parts of one operation: what Linux takes at once. More than a sector has bytes, so that an
// operation of as many parts holds a whole sector however small they are.
inline constexpr std::size_t kFileParts = 1024;
static_assert(kFileParts > kSectorBytes);

class FileRequest {
 public:
  void start(const BlkIo& io);

  // The operation to do now, unless done. `parts` has kFileParts, and stays until the result.
  FileOp next(std::span<iovec> parts) const;
  void result(std::int64_t result);

  bool done() const { return done_; }
  BlkStatus status() const { return status_; }  // once done
  const BlkIo& io() const { return io_; }

 private:
  bool transfers() const { return io_.op == BlkOp::kRead || io_.op == BlkOp::kWrite; }
  // Is the operation at hand one that moves no bytes?
  bool makes_zeros() const {
    return !by_writing_ && (io_.op == BlkOp::kDiscard || io_.op == BlkOp::kWriteZeroes);
  }
  std::size_t items() const { return transfers() ? io_.pieces.size() : io_.ranges.size(); }
  std::uint64_t item_bytes() const {
    return transfers() ? io_.pieces[item_].len : io_.ranges[item_].bytes;
  }
  FileOp next_transfer(std::span<iovec> parts) const;
  FileOp next_range(std::span<iovec> parts) const;
  void skip_finished_items();
  void fail(std::int64_t error);
  void advance(std::uint64_t bytes);
  void finish(BlkStatus status);

  BlkIo io_;
  std::size_t item_ = 0;           // the piece or range at hand
  std::uint64_t item_done_ = 0;    // its bytes dealt with
  std::uint64_t moved_bytes_ = 0;  // of kRead and kWrite: all bytes dealt with
  bool by_writing_ = false;        // the file knows no other way to make zeros
  BlkStatus status_ = BlkStatus::kOk;
  bool done_ = true;
};

// Once a sync has failed, the kernel may count as clean what it could not write: later syncs
// succeed without it. So no flush is believed any more.
class FlushRecord {
 public:
  BlkStatus record(BlkOp op, BlkStatus status) {
    if (op != BlkOp::kFlush) return status;
    failed_ |= status != BlkStatus::kOk;
    return failed_ ? BlkStatus::kIoErr : status;
  }

 private:
  bool failed_ = false;
};

}  // namespace vringlab
