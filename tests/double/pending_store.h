// A disk in memory that completes when, and in which order, a test says.
#pragma once

#include <functional>
#include <vector>

#include "core/backend/blk/memory_store.h"

namespace vringlab::test {

struct PendingStore {
  MemoryStore memory;
  std::size_t room = SIZE_MAX;                     // requests it holds at once
  std::vector<BlkIo> held = {};                    // in the order they came
  int batches = 0;                                 // calls of end_batch
  std::function<void(BlkIo)> on_submit = nullptr;  // instead of holding it

  template <PayloadAccess P>
  Submitted submit(P&, const BlkIo& io, BlkStatus&) {
    if (held.size() >= room) return Submitted::kBusy;
    if (on_submit) {
      on_submit(io);
    } else {
      held.push_back(io);
    }
    return Submitted::kPending;
  }
  void end_batch() { ++batches; }

  // Takes a request out and does it; its status is what the device must be told.
  template <PayloadAccess P>
  BlkStatus finish(P& payload, std::size_t which, BlkIo& io) {
    io = held[which];
    held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
    BlkStatus status = BlkStatus::kIoErr;
    memory.submit(payload, io, status);
    return status;
  }
};

}  // namespace vringlab::test
