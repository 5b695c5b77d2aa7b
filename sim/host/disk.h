// A disk: requests wait, adjacent ones are merged, a bounded number is worked on at
// once. Each completes after its latency and its turn at what the disk has only once,
// be that a link, a controller or a set of spindles.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/cost/model.h"

namespace vringlab::sim {

// Whose request it is, to be told when it is done.
struct DiskClient {
  enum class Kind : std::uint8_t {
    kRequest,    // a request of a queue, or of a host's job; slot says which
    kThread,     // a thread that does one thing at a time
    kReadAhead,  // pages of the page cache that are read
    kWriteBack   // and written
  };
  Kind kind = Kind::kRequest;
  std::uint32_t index = 0;  // of the queue, job, thread or window
  std::uint16_t slot = 0;
};

struct DiskRequest {
  enum class Op : std::uint8_t { kRead, kWrite, kFlush };
  Op op = Op::kRead;
  std::uint64_t offset = 0;  // bytes
  std::uint64_t bytes = 0;
  DiskClient client;

  std::uint64_t end() const { return offset + bytes; }
};

struct DiskConfig {
  std::uint32_t depth = 32;          // requests it works on at once, at least 1
  std::uint64_t max_bytes = 524288;  // of requests merged into one
};

struct DiskCounters {
  std::uint64_t requests = 0;  // that it worked on
  std::uint64_t merged = 0;    // that were merged into one before them
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
  std::uint64_t busy_ps = 0;  // of what it has only once
};

// When something happens next that no core does.
struct EventClock {
  std::uint64_t at_ps = 0;

  std::uint64_t now() const { return at_ps; }
};

class Disk {
 public:
  Disk(const DiskCosts& costs, const DiskConfig& config)
      : costs_(costs),
        config_(config),
        mask_(std::bit_ceil(std::max<std::uint32_t>(config.depth, 1)) - 1) {
    for (Lane& lane : lanes_) lane.working.resize(mask_ + 1);
  }

  const EventClock& core() const { return next_; }
  bool runnable() const { return working_ > 0; }
  const DiskCounters& counters() const { return counters_; }
  // Did something complete, or did its next completion become earlier than it was? Told
  // once: whoever runs actors in time order has to look again.
  bool take_news() { return std::exchange(news_, false); }

  void submit(std::uint64_t at_ps, const DiskRequest& request) {
    const Node node = add(request, at_ps);
    if (first_ == kNone) {
      first_ = node;
    } else {
      nodes_[last_].next = node;
    }
    last_ = node;
    const std::uint64_t due_ps = runnable() ? next_.at_ps : UINT64_MAX;
    dispatch(at_ps);
    news_ |= next_.at_ps < due_ps;
  }

  // The earliest request completes; `take` says whose it was.
  void step() {
    Lane& lane = lanes_[earliest_];
    const Working done = lane.working[lane.first++ & mask_];
    --working_;
    done_ = done.first;
    news_ = true;
    dispatch(done.due_ps);
  }

  bool completed() const { return done_ != kNone; }
  // One client of the request that completed; a request has several if it was merged.
  DiskClient take() {
    const Node node = done_;
    done_ = nodes_[node].next;
    nodes_[node].next = free_;
    free_ = node;
    return nodes_[node].request.client;
  }

 private:
  using Node = std::uint32_t;
  static constexpr Node kNone = UINT32_MAX;
  // A head that moves less stays near: a track held about 1 MB, and there are several disks.
  static constexpr std::uint64_t kNearBytes = 4u << 20;

  struct Waiting {
    DiskRequest request;
    Node next = kNone;
    std::uint64_t at_ps = 0;  // when it was submitted
  };
  struct Working {
    std::uint64_t due_ps = 0;
    std::uint64_t number = 0;  // of two that are due at once the earlier one completes first
    Node first = kNone;        // of the requests merged into it

    bool before(const Working& other) const {
      return due_ps != other.due_ps ? due_ps < other.due_ps : number < other.number;
    }
  };
  // Requests of one kind have the same latency behind the disk's turns, so they complete
  // in the order in which it took them: a ring of `depth` entries, rounded up.
  struct Lane {
    std::vector<Working> working;
    std::uint32_t first = 0;  // free-running
    std::uint32_t end = 0;
  };
  static constexpr std::size_t kLanes = 3;
  struct Transfer {
    std::uint64_t bytes = UINT64_MAX;
    std::uint64_t ps = 0;
  };

  Node add(const DiskRequest& request, std::uint64_t at_ps) {
    if (free_ == kNone) {
      nodes_.push_back({request, kNone, at_ps});
      return static_cast<Node>(nodes_.size() - 1);
    }
    const Node node = free_;
    free_ = nodes_[node].next;
    nodes_[node] = {request, kNone, at_ps};
    return node;
  }

  // Starts what waits, as long as the disk takes more.
  void dispatch(std::uint64_t at_ps) {
    while (first_ != kNone && working_ < config_.depth) {
      const Node group = first_;
      const DiskRequest merged = take_adjacent(at_ps);
      Lane& lane = lanes_[static_cast<std::size_t>(merged.op)];
      lane.working[lane.end++ & mask_] = {serve(at_ps, merged), number_++, group};
      ++working_;
    }
    if (runnable()) find_earliest();
  }
  void find_earliest() {
    const Working* best = nullptr;
    for (std::size_t i = 0; i < kLanes; ++i) {
      const Lane& lane = lanes_[i];
      if (lane.first == lane.end) continue;
      const Working& front = lane.working[lane.first & mask_];
      if (best != nullptr && !front.before(*best)) continue;
      best = &front;
      earliest_ = i;
    }
    next_.at_ps = best->due_ps;
  }

  // The first that waits and those behind it that go on where it ends.
  // `at_ps` becomes when the last of them was submitted, if that is later.
  DiskRequest take_adjacent(std::uint64_t& at_ps) {
    DiskRequest merged = nodes_[first_].request;
    at_ps = std::max(at_ps, nodes_[first_].at_ps);
    Node last = first_;
    Node next = nodes_[last].next;
    while (next != kNone && adjacent(merged, nodes_[next].request)) {
      merged.bytes += nodes_[next].request.bytes;
      last = next;
      at_ps = std::max(at_ps, nodes_[last].at_ps);
      next = nodes_[last].next;
      ++counters_.merged;
    }
    nodes_[last].next = kNone;
    first_ = next;
    return merged;
  }
  bool adjacent(const DiskRequest& a, const DiskRequest& b) const {
    return a.op == b.op && a.op != DiskRequest::Op::kFlush && a.end() == b.offset &&
           a.bytes + b.bytes <= config_.max_bytes;
  }

  // When it will be done.
  std::uint64_t serve(std::uint64_t at_ps, const DiskRequest& request) {
    ++counters_.requests;
    const bool late = at_ps > free_ps_;
    const std::uint64_t begin_ps = std::max(at_ps, free_ps_);
    if (request.op == DiskRequest::Op::kFlush) {
      free_ps_ = begin_ps + costs_.flush_ps;
      counters_.busy_ps += costs_.flush_ps;
      return free_ps_;
    }
    const bool write = request.op == DiskRequest::Op::kWrite;
    const DiskCosts::Direction& costs = write ? costs_.write : costs_.read;
    (write ? counters_.write_bytes : counters_.read_bytes) += request.bytes;
    const std::uint64_t busy_ps =
        position_ps(request, late) + transfer_ps(costs, request.op, request.bytes);
    free_ps_ = begin_ps + busy_ps;
    counters_.busy_ps += busy_ps;
    end_ = request.end();
    return free_ps_ + costs.latency_ps;
  }
  // Command and data of different requests overlap: the longer of the two counts.
  std::uint64_t transfer_ps(const DiskCosts::Direction& costs, DiskRequest::Op op,
                            std::uint64_t bytes) {
    Transfer& last = transfers_[static_cast<std::size_t>(op)];
    if (last.bytes == bytes) return last.ps;
    const double ps = costs.ps_per_byte * static_cast<double>(bytes);
    last = {bytes, std::max(costs.request_ps, static_cast<std::uint64_t>(std::llround(ps)))};
    return last.ps;
  }
  // A write that comes when the disk has stopped finds that the platters went on
  // turning; several disks wait for the last of them, so nearly a whole turn. What is
  // read in sequence the disks have read ahead.
  std::uint64_t position_ps(const DiskRequest& request, bool late) const {
    const std::uint64_t distance =
        request.offset > end_ ? request.offset - end_ : end_ - request.offset;
    if (distance > kNearBytes) return costs_.seek_ps + costs_.turn_ps / 2;
    const bool goes_on = distance == 0 && !late;
    return request.op == DiskRequest::Op::kWrite && !goes_on ? costs_.turn_ps : 0;
  }

  EventClock next_;  // the next completion
  DiskCosts costs_;
  DiskConfig config_;
  DiskCounters counters_;
  std::vector<Waiting> nodes_;              // of all requests, and free ones
  std::array<Lane, kLanes> lanes_;          // of what it works on, by operation
  std::uint32_t mask_;                      // entries of a lane, less 1
  std::uint32_t working_ = 0;               // requests in all lanes
  std::size_t earliest_ = 0;                // the lane whose first request completes next
  std::array<Transfer, kLanes> transfers_;  // computed last: most requests are of one size
  Node first_ = kNone;                      // that waits
  Node last_ = kNone;
  Node free_ = kNone;
  Node done_ = kNone;  // completed and not taken
  bool news_ = false;
  std::uint64_t free_ps_ = 0;  // what the disk has only once is busy until then
  std::uint64_t end_ = 0;      // of the bytes served last
  std::uint64_t number_ = 0;
};

}  // namespace vringlab::sim
