// A disk in memory that trusts no block device: what it gets must be what a store was promised. It
// does requests at once, later or not at all, as it is told.
#pragma once

#include <functional>
#include <vector>

#include "core/backend/blk/memory_store.h"
#include "core/backend/blk/request.h"
#include "tests/fuzz/input.h"

namespace vringlab::test {

class CheckedStore {
 public:
  enum class Mode : std::uint8_t { kAtOnce, kLater, kBusy, kBeforeItReturns };

  explicit CheckedStore(const GuestMemory& memory) : guest_(&memory) {}

  static constexpr std::uint64_t kSectors = 16;
  BlkDisk disk{.capacity_sectors = kSectors, .max_segments = 2};
  Mode mode = Mode::kAtOnce;
  bool fails = false;
  std::function<void(std::uint16_t slot, BlkStatus status)> complete;
  std::size_t begun = 0;  // requests taken since the last end_batch

  template <PayloadAccess P>
  Submitted submit(P& payload, const BlkIo& io, BlkStatus& status) {
    check(io);
    if (mode == Mode::kBusy) return Submitted::kBusy;
    ++begun;
    if (mode == Mode::kLater) {
      held_.push_back({io, {io.pieces.begin(), io.pieces.end()}});
      return Submitted::kPending;
    }
    status = execute(payload, io);
    if (mode == Mode::kAtOnce) return Submitted::kDone;
    complete(io.slot, status);
    return Submitted::kPending;
  }
  void end_batch() { begun = 0; }

  std::size_t pending() const { return held_.size(); }

  template <PayloadAccess P>
  void finish(P& payload, std::size_t which) {
    const auto at = held_.begin() + static_cast<std::ptrdiff_t>(which % held_.size());
    const Held held = *at;
    held_.erase(at);
    check(held.io);
    const auto same = [](const Piece& a, const Piece& b) {
      return a.host == b.host && a.len == b.len;
    };
    require(std::ranges::equal(held.io.pieces, held.pieces, same), "pieces stay where they are");
    complete(held.io.slot, execute(payload, held.io));
  }

 private:
  struct Held {
    BlkIo io;
    std::vector<Piece> pieces;  // as they were when it was submitted
  };

  template <PayloadAccess P>
  BlkStatus execute(P& payload, const BlkIo& io) {
    BlkStatus status = BlkStatus::kIoErr;
    if (!fails) memory_.submit(payload, io, status);
    return status;
  }

  void check(const BlkIo& io) const {
    const bool transfers = io.op == BlkOp::kRead || io.op == BlkOp::kWrite;
    require(io.op == BlkOp::kRead || io.op == BlkOp::kFlush || !disk.read_only,
            "a read-only disk is not changed");
    require(disk.flush || io.op != BlkOp::kFlush, "what was not offered is not asked for");
    require(disk.discard || io.op != BlkOp::kDiscard, "what was not offered is not asked for");
    require(disk.write_zeroes || io.op != BlkOp::kWriteZeroes,
            "what was not offered is not asked for");
    require(transfers || io.pieces.empty(), "only transfers have data");
    require(transfers || io.bytes == 0, "only transfers have data");
    require(!transfers || io.ranges.empty(), "transfers have no ranges");
    require(io.ranges.size() <= disk.max_segments, "no more ranges than segments");
    check_place(io.offset_bytes, io.bytes);
    for (const BlkRange& range : io.ranges) check_place(range.offset_bytes, range.bytes);
    check_pieces(io);
  }
  void check_place(std::uint64_t offset_bytes, std::uint64_t bytes) const {
    constexpr std::uint64_t kBytes = kSectors * kSectorBytes;
    require(offset_bytes <= kBytes && bytes <= kBytes - offset_bytes, "inside the capacity");
    require(bytes % kSectorBytes == 0, "whole sectors");
  }
  void check_pieces(const BlkIo& io) const {
    std::uint64_t sum = 0;
    for (const Piece& piece : io.pieces) {
      require(piece.len > 0, "no empty pieces");
      require(std::ranges::any_of(guest_->regions(),
                                  [&](const Region& region) {
                                    return piece.host >= region.bytes.data() &&
                                           piece.host + piece.len <=
                                               region.bytes.data() + region.bytes.size();
                                  }),
              "a piece is guest memory");
      sum += piece.len;
    }
    require(sum == io.bytes, "pieces add up");
  }

  const GuestMemory* guest_;
  std::vector<std::byte> bytes_ = std::vector<std::byte>(kSectors * kSectorBytes);
  MemoryStore memory_{bytes_};
  std::vector<Held> held_;
};

}  // namespace vringlab::test
