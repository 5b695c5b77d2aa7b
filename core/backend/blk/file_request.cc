#include "core/backend/blk/file_request.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace vringlab {
namespace {

constexpr std::uint64_t kZerosBytes = 0x10000;
constinit std::array<std::byte, kZerosBytes> zeros{};  // never written: iovec knows no const

std::uint64_t sum(std::span<const iovec> parts) {
  std::uint64_t bytes = 0;
  for (const iovec& part : parts) bytes += part.iov_len;
  return bytes;
}

// Takes `bytes` off the end. Returns the parts left.
std::span<const iovec> shorten(std::span<iovec> parts, std::uint64_t bytes) {
  while (bytes > 0 && bytes >= parts.back().iov_len) {
    bytes -= parts.back().iov_len;
    parts = parts.first(parts.size() - 1);
  }
  if (bytes > 0) parts.back().iov_len -= bytes;
  return parts;
}

bool is_unsupported(std::int64_t result) { return result == -EOPNOTSUPP || result == -ENOSYS; }

}  // namespace

void FileRequest::start(const BlkIo& io) {
  io_ = io;
  item_ = 0;
  item_done_ = moved_bytes_ = 0;
  by_writing_ = done_ = false;
  if (io_.op != BlkOp::kFlush) skip_finished_items();
}

FileOp FileRequest::next(std::span<iovec> parts) const {
  assert(!done_ && parts.size() >= kFileParts);
  if (io_.op == BlkOp::kFlush) return {.kind = FileOpKind::kSync};
  return transfers() ? next_transfer(parts) : next_range(parts);
}

FileOp FileRequest::next_transfer(std::span<iovec> parts) const {
  std::size_t count = 0;
  std::uint64_t skip = item_done_;
  for (std::size_t i = item_; i < io_.pieces.size() && count < kFileParts; ++i, skip = 0)
    parts[count++] = {io_.pieces[i].host + skip, io_.pieces[i].len - skip};
  std::span<const iovec> taken = parts.first(count);
  // A sector is written by one operation, so that a power cut between two doesn't tear it.
  const std::uint64_t left = io_.bytes - moved_bytes_;
  std::uint64_t bytes = sum(taken);
  if (bytes < left) {
    const std::uint64_t excess = (moved_bytes_ + bytes) % kSectorBytes;
    taken = shorten(parts.first(count), excess);
    bytes -= excess;
  }
  return {.kind = io_.op == BlkOp::kRead ? FileOpKind::kRead : FileOpKind::kWrite,
          .parts = taken,
          .offset_bytes = io_.offset_bytes + moved_bytes_,
          .bytes = bytes};
}

FileOp FileRequest::next_range(std::span<iovec> parts) const {
  const BlkRange& range = io_.ranges[item_];
  if (!by_writing_)
    return {.kind = range.unmap ? FileOpKind::kPunch : FileOpKind::kZero,
            .offset_bytes = range.offset_bytes,
            .bytes = range.bytes};
  std::size_t count = 0;
  std::uint64_t bytes = 0;
  for (; count < kFileParts && bytes < range.bytes - item_done_; bytes += parts[count++].iov_len)
    parts[count] = {zeros.data(), std::min(kZerosBytes, range.bytes - item_done_ - bytes)};
  return {.kind = FileOpKind::kWrite,
          .parts = parts.first(count),
          .offset_bytes = range.offset_bytes + item_done_,
          .bytes = bytes};
}

void FileRequest::result(std::int64_t result) {
  assert(!done_);
  if (result == -EINTR) return;
  if (result < 0) return fail(result);
  if (io_.op == BlkOp::kFlush) return finish(BlkStatus::kOk);
  if (makes_zeros()) return advance(item_bytes());
  // Behind the end of the file, or it would go on for ever.
  if (result == 0) return finish(BlkStatus::kIoErr);
  advance(static_cast<std::uint64_t>(result));
}

void FileRequest::fail(std::int64_t error) {
  if (makes_zeros() && is_unsupported(error)) {
    by_writing_ = true;
  } else {
    finish(BlkStatus::kIoErr);
  }
}

void FileRequest::advance(std::uint64_t bytes) {
  moved_bytes_ += bytes;
  while (bytes > 0) {
    const std::uint64_t part = std::min(bytes, item_bytes() - item_done_);
    item_done_ += part;
    bytes -= part;
    skip_finished_items();
  }
}

// Empty ones have nothing to be done.
void FileRequest::skip_finished_items() {
  for (; item_ < items() && item_done_ == item_bytes(); ++item_) item_done_ = 0;
  if (item_ == items()) finish(BlkStatus::kOk);
}

void FileRequest::finish(BlkStatus status) {
  status_ = status;
  done_ = true;
}

}  // namespace vringlab
