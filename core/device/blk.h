// The loop of a block device: the life of a request from avail entry to used element, in reading
// order. One turn takes one request; what the store doesn't do at once completes later, in any
// order. A slot is the head of its chain.
//
// Whoever owns the store calls complete for each request it has done, then flush, and wakes the
// worker: requests that found no room are taken by the next turns.
#pragma once

#include <algorithm>
#include <cassert>
#include <vector>

#include "core/backend/blk/execute.h"
#include "core/device/turn.h"
#include "core/ring/device_ring.h"

namespace vringlab {

struct BlkConfig {
  BlkDisk disk{};
  std::uint32_t used_batch = 1;       // once so many have completed, they are published
  std::uint32_t max_in_flight = 128;  // requests with the store, if the ring has more
  std::uint32_t weight = 256;         // requests of one run, after which others get their turn
};

struct BlkCounters {
  std::uint64_t taken = 0;          // chains fetched, well-formed or not
  std::uint64_t completed = 0;      // requests answered, whatever the status
  std::uint64_t errors = 0;         // of those, with another status than OK
  std::uint64_t read_bytes = 0;     // of data
  std::uint64_t written_bytes = 0;  // of data
  std::uint64_t refused = 0;        // chains without a place for a status, given back with length 0
  std::uint64_t busy = 0;           // runs that ended for want of room in the store
  std::uint64_t calls = 0;          // driver notified
  RingError last_error = RingError::kNone;
};

template <RingAccess A, PayloadAccess P, BlkStore<P> S, Caller C>
class Blk {
 public:
  Blk(DeviceRing<A, P> ring, S& store, C& caller, const BlkConfig& config, std::size_t regions)
      : ring_(std::move(ring)),
        store_(store),
        caller_(caller),
        config_(config),
        room_(chain_room(ring_.state().size, regions)),
        slots_(ring_.state().size),
        idle_(std::min<std::size_t>(config.max_in_flight, ring_.state().size)),
        pieces_(room_ * idle_.size()),
        ranges_(config.disk.max_segments * idle_.size()) {
    assert(config.disk.capacity_sectors <= kMaxCapacitySectors && !idle_.empty());
    for (std::size_t i = 0; i < idle_.size(); ++i) idle_[i] = static_cast<std::uint16_t>(i);
  }

  // Takes at most one request.
  Turn step() {
    if (!running_) begin_run();
    if (idle_.empty()) return block();
    chain_.room = std::span(pieces_).subspan(room_ * idle_.back(), room_);
    RingError error = RingError::kNone;
    const Fetch fetch = ring_.next_chain(chain_, error);
    if (fetch != Fetch::kHead)
      return end_run(fetch == Fetch::kEmpty ? Turn::kEmpty : Turn::kBroken);
    ++counters_.taken;
    const auto layout = error == RingError::kNone ? locate_blk(chain_) : error;
    if (!layout.ok()) {
      refuse(layout.error());
    } else if (!serve(layout.value())) {
      return put_back();
    }
    if (++run_requests_ >= config_.weight) return end_run(Turn::kYield);
    return Turn::kPacket;
  }

  // The store has done with a request it took. On the thread of the loop, even before `submit` or
  // `end_batch` of the store returns.
  void complete(std::uint16_t slot, BlkStatus status) {
    assert(slot < slots_.size() && slots_[slot].pending);
    Slot& done = slots_[slot];
    release(done);
    blocked_ = false;
    const std::uint32_t bytes = status == BlkStatus::kOk ? done.bytes : 0;
    (done.op == BlkOp::kRead ? counters_.read_bytes : counters_.written_bytes) += bytes;
    answer(slot, done.status, status, done.op == BlkOp::kRead ? bytes : 0);
  }

  // Lets the driver have what has completed.
  void flush() {
    if (ring_.flush_used() > 0 && ring_.should_call()) {
      ++counters_.calls;
      caller_.call();
    }
  }

  // Ends the run where it is: the store begins with what it has, what has completed is published.
  void finish() { end_run(Turn::kYield); }

  // Requests that the store has not completed.
  std::uint16_t pending() const { return pending_; }

  // The last turn found no room, and nothing has completed since.
  bool blocked() const { return blocked_; }

  // Has the driver not been told of all that has completed?
  bool finished() const { return ring_.state().pending_used > 0; }

  // Back to a new queue; nothing more is written. False, and nothing done, while requests are
  // pending: the store still uses guest memory, which may go away after a reset.
  [[nodiscard]] bool reset() {
    if (pending() > 0) return false;
    running_ = blocked_ = false;
    ring_.reset();
    return true;
  }

  // Asks for kicks before going to sleep; true: there is work already, go on. A queue that waits
  // for room has none.
  bool arm() {
    const bool moved = ring_.enable_notify();
    return finished() || (!blocked_ && (moved || unserved()));
  }

  // For a device that polls before it sleeps.
  bool work_pending() { return finished() || (!blocked_ && ring_.work_pending()); }

  DeviceRing<A, P>& ring() { return ring_; }
  const BlkCounters& counters() const { return counters_; }

 private:
  // A request with the store.
  struct Slot {
    std::byte* status = nullptr;  // where its status goes
    std::uint32_t bytes = 0;      // of data
    std::uint16_t place = 0;      // of its pieces and ranges
    BlkOp op = BlkOp::kRead;
    bool pending = false;
  };

  void begin_run() {
    running_ = true;
    blocked_ = false;
    run_requests_ = 0;
    ring_.disable_notify();
  }

  // The store begins before the driver is called: it has more to wait for.
  [[gnu::noinline]] Turn end_run(Turn why) {
    running_ = false;
    if (submitted_) {
      submitted_ = false;
      store_.end_batch();
    }
    flush();
    return why;
  }

  // Answers a request or hands it to the store. False: the store has no room, nothing was done.
  bool serve(const BlkLayout& layout) {
    BlkRequest request = refuse_blk(BlkStatus::kIoErr);
    if (layout.header_bytes == sizeof(VirtioBlkReqHdr))
      request = parse_blk(copy_blk_header(ring_.payload(), chain_), layout, config_.disk);
    if (request.status != BlkStatus::kOk) {
      answer(chain_.head, layout.status, request.status, 0);
    } else if (request.identify) {
      write_identity(ring_.payload(), pieces_in(chain_), request, config_.disk);
      answer(chain_.head, layout.status, BlkStatus::kOk, request.bytes);
    } else if (has_ranges(request.op)) {
      return submit_ranges(layout, request);
    } else {
      return submit(layout, request);
    }
    return true;
  }

  static bool has_ranges(BlkOp op) { return op == BlkOp::kDiscard || op == BlkOp::kWriteZeroes; }

  bool submit(const BlkLayout& layout, const BlkRequest& request) {
    BlkIo io{.slot = chain_.head,
             .op = request.op,
             .offset_bytes = request.offset_bytes,
             .bytes = request.bytes};
    if (request.op == BlkOp::kRead) io.pieces = pieces_in(chain_);
    if (request.op == BlkOp::kWrite) io.pieces = pieces_out(chain_);
    return submit(io, layout.status);
  }

  [[gnu::noinline]] bool submit_ranges(const BlkLayout& layout, const BlkRequest& request) {
    const std::size_t room = config_.disk.max_segments;
    const auto ranges = std::span(ranges_).subspan(room * idle_.back(), room);
    BlkStatus status = BlkStatus::kOk;
    const std::size_t count =
        copy_ranges(ring_.payload(), pieces_out(chain_), request, config_.disk, ranges, status);
    if (status == BlkStatus::kOk)
      return submit({.slot = chain_.head, .op = request.op, .ranges = ranges.first(count)},
                    layout.status);
    answer(chain_.head, layout.status, status, 0);
    return true;
  }

  // The slot is taken before the store gets the request: it may complete it at once.
  bool submit(const BlkIo& io, std::byte* status_place) {
    Slot& slot = slots_[io.slot];
    slot = {status_place, static_cast<std::uint32_t>(io.bytes), idle_.back(), io.op, true};
    idle_.pop_back();
    ++pending_;
    submitted_ = true;
    BlkStatus status = BlkStatus::kIoErr;
    switch (store_.submit(ring_.payload(), io, status)) {
      case Submitted::kDone:
        complete(io.slot, status);
        return true;
      case Submitted::kPending:
        return true;
      case Submitted::kBusy:
        break;
    }
    release(slot);
    return false;
  }

  void release(Slot& slot) {
    slot.pending = false;
    idle_.push_back(slot.place);
    --pending_;
  }

  // The status is the last byte written; it and the used element become visible together.
  void answer(std::uint16_t head, std::byte* status_place, BlkStatus status, std::uint32_t bytes) {
    write_status(ring_.payload(), status_place, status);
    ++counters_.completed;
    if (status != BlkStatus::kOk) ++counters_.errors;
    give_back(head, bytes + 1);
  }

  // A chain whose driver can't be told anything.
  [[gnu::noinline]] void refuse(RingError error) {
    ++counters_.refused;
    counters_.last_error = error;
    give_back(chain_.head, 0);
  }

  void give_back(std::uint16_t head, std::uint32_t written_bytes) {
    ring_.push_used(head, written_bytes);
    if (ring_.state().pending_used >= config_.used_batch) flush();
  }

  // No room now: the chain stays available, and a later run begins with it.
  [[gnu::noinline]] Turn put_back() {
    --counters_.taken;
    ring_.discard(1);
    return block();
  }

  Turn block() {
    ++counters_.busy;
    blocked_ = true;  // unless end_batch completes something
    return end_run(Turn::kEmpty);
  }

  // Entries seen, and none of them was put back for want of room.
  bool unserved() const { return ring_.state().broken == RingError::kNone && ring_.seen_pending(); }

  DeviceRing<A, P> ring_;
  S& store_;
  C& caller_;
  BlkConfig config_;
  std::size_t room_;                 // pieces of a place
  std::vector<Slot> slots_;          // by head
  std::vector<std::uint16_t> idle_;  // places without a request; the last freed is taken first
  std::vector<Piece> pieces_;        // of all places
  std::vector<BlkRange> ranges_;     // of all places
  Chain chain_;                      // the chain at hand, in the place that is taken next
  std::uint16_t pending_ = 0;        // slots in use
  bool running_ = false;
  bool blocked_ = false;
  bool submitted_ = false;  // the store got something and has not been told to begin
  std::uint32_t run_requests_ = 0;
  BlkCounters counters_;
};

}  // namespace vringlab
