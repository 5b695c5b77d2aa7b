// Where a block device keeps its bytes: what it asks for and how it is answered.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>

#include "core/memory/access.h"
#include "core/spec/blk.h"

namespace vringlab {

enum class BlkOp : std::uint8_t { kRead, kWrite, kFlush, kDiscard, kWriteZeroes };

enum class BlkStatus : std::uint8_t {
  kOk = kBlkStatusOk,
  kIoErr = kBlkStatusIoErr,
  kUnsupp = kBlkStatusUnsupp
};

struct BlkRange {
  std::uint64_t offset_bytes = 0;
  std::uint64_t bytes = 0;
  bool unmap = false;  // the storage may be given back; what is read must be zeros all the same
};

// One request, checked: all of it lies inside the capacity, in whole sectors.
struct BlkIo {
  std::uint16_t slot = 0;  // names the request when it completes
  BlkOp op = BlkOp::kRead;
  std::uint64_t offset_bytes = 0;    // of kRead and kWrite
  std::uint64_t bytes = 0;           // what the pieces add up to
  std::span<const Piece> pieces;     // data of kRead (to be written) or kWrite; never empty ones
  std::span<const BlkRange> ranges;  // of kDiscard and kWriteZeroes
};

enum class Submitted : std::uint8_t {
  kDone,     // `status` is set
  kPending,  // whoever owns the store completes the slot later, or has done so already
  kBusy      // nothing was taken; try again later
};

// `submit` takes one request. Pieces and ranges stay where they are until it completes; the
// guest may write to the pieces at any time. `end_batch`: no more for now, begin with what was
// taken. What a write put into the store before it completed is kept by a flush that is
// submitted afterwards; a flush promises nothing about writes that complete after its
// submission. What was discarded reads as zeros, so that all stores hold the same bytes.
template <class S, class P>
concept BlkStore = requires(S s, P& payload, const BlkIo& io, BlkStatus& status) {
  { s.submit(payload, io, status) } -> std::same_as<Submitted>;
  s.end_batch();
};

}  // namespace vringlab
