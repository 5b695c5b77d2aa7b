// A disk that is a piece of memory. Every request is done at once; power is never cut.
#pragma once

#include <algorithm>
#include <cassert>

#include "core/backend/blk/store.h"

namespace vringlab {

class MemoryStore {
 public:
  // `bytes` is the whole disk.
  explicit MemoryStore(std::span<std::byte> bytes) : bytes_(bytes) {}

  template <PayloadAccess P>
  Submitted submit(P& payload, const BlkIo& io, BlkStatus& status) {
    status = BlkStatus::kOk;
    switch (io.op) {
      case BlkOp::kRead:
        read(payload, io);
        break;
      case BlkOp::kWrite:
        write(payload, io);
        break;
      case BlkOp::kFlush:
        break;
      case BlkOp::kDiscard:
      case BlkOp::kWriteZeroes:
        for (const BlkRange& range : io.ranges) std::ranges::fill(at(range), std::byte{0});
        break;
    }
    return Submitted::kDone;
  }

  void end_batch() {}

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  template <PayloadAccess P>
  void read(P& payload, const BlkIo& io) {
    const std::byte* source = at({.offset_bytes = io.offset_bytes, .bytes = io.bytes}).data();
    for (const Piece& piece : io.pieces) {
      payload.copy_out(Transfer::kPayload, piece.host, source, piece.len);
      source += piece.len;
    }
  }
  template <PayloadAccess P>
  void write(P& payload, const BlkIo& io) {
    std::byte* target = at({.offset_bytes = io.offset_bytes, .bytes = io.bytes}).data();
    for (const Piece& piece : io.pieces) {
      payload.copy_in(Transfer::kPayload, target, piece.host, piece.len);
      target += piece.len;
    }
  }
  std::span<std::byte> at(const BlkRange& range) const {
    assert(range.offset_bytes <= bytes_.size() &&
           range.bytes <= bytes_.size() - range.offset_bytes);
    return bytes_.subspan(range.offset_bytes, range.bytes);
  }

  std::span<std::byte> bytes_;
};

}  // namespace vringlab
