// The I/Os of all jobs of a guest, in flight and done; what its virtual processors share.
#pragma once

#include <cstring>
#include <vector>

#include "core/backend/blk/store.h"
#include "core/spec/blk.h"
#include "sim/guest/blk_jobs.h"
#include "sim/machine/latency.h"

namespace vringlab::sim {

// Where the data of one I/O lies, and the headers and status bytes of its requests.
struct BlkMemory {
  GuestAddr data;
  std::byte* data_host = nullptr;
  GuestAddr requests;  // kRequestStride bytes each
  std::byte* requests_host = nullptr;

  static constexpr std::uint64_t kRequestStride = 64;
  static constexpr std::uint64_t kStatusOffset = sizeof(VirtioBlkReqHdr);
};

// One I/O of a job, under way.
struct BlkIoSlot {
  BlkIoPlan plan;
  BlkMemory memory;
  std::uint64_t started_ps = 0;
  std::uint64_t built_bytes = 0;  // that requests were built for
  std::uint32_t requests = 0;     // built
  std::uint32_t left = 0;         // built and not completed
  bool built = false;             // all of them

  void begin(const BlkIoPlan& next, std::uint64_t at_ps) {
    plan = next;
    started_ps = at_ps;
    built_bytes = 0;
    requests = left = 0;
    built = false;
  }
};

struct BlkWorkJob {
  BlkJob stream;
  std::vector<BlkIoSlot> slots;
  std::vector<std::uint16_t> idle;  // slots
  std::uint16_t current = kNoSlot;  // whose requests are being built
  bool waits = false;               // each I/O is waited for, and this one is
  std::uint16_t vcpu = 0;

  static constexpr std::uint16_t kNoSlot = UINT16_MAX;

  bool can_go_on() const { return current != kNoSlot || (!idle.empty() && !stream.exhausted()); }
  bool finished() const { return stream.exhausted() && idle.size() == slots.size(); }
};

struct BlkWork {
  std::vector<BlkWorkJob> jobs;
  Histogram latency;
  std::uint64_t ios = 0;           // done, flushes not counted
  std::uint64_t bytes = 0;         // of them
  std::uint64_t requests = 0;      // done
  std::uint64_t failed = 0;        // requests, of those
  std::uint64_t wrong_bytes = 0;   // read back, and not what was written
  std::uint64_t last_done_ps = 0;  // when the last I/O was
  std::size_t running = 0;         // jobs that have not finished
  std::size_t stuck = 0;           // virtual processors that wait for room in their queue
  bool check_data = false;         // what is read is compared with what should have been written

  // Names a request: job, slot and number within its I/O.
  struct Parts {
    std::size_t job = 0;
    std::uint16_t slot = 0;
    std::uint16_t request = 0;
  };
  static std::uint64_t token(std::size_t job, std::uint16_t slot, std::uint32_t request) {
    return std::uint64_t{job} << 32 | std::uint64_t{slot} << 16 | request;
  }
  static Parts parts(std::uint64_t token) {
    return {static_cast<std::size_t>(token >> 32), static_cast<std::uint16_t>(token >> 16),
            static_cast<std::uint16_t>(token)};
  }
};

// The data of a place on the disk: words that say where they belong.
inline void fill_pattern(std::byte* data, const BlkIoPlan& plan) {
  for (std::uint64_t at = 0; at < plan.bytes; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = (plan.offset + at) * 0x9e3779b97f4a7c15 + 1;
    std::memcpy(data + at, &word, sizeof(word));
  }
}
inline std::uint64_t wrong_bytes(const std::byte* data, const BlkIoPlan& plan) {
  std::uint64_t wrong = 0;
  for (std::uint64_t at = 0; at < plan.bytes; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = (plan.offset + at) * 0x9e3779b97f4a7c15 + 1;
    if (std::memcmp(data + at, &word, sizeof(word)) != 0) wrong += sizeof(word);
  }
  return wrong;
}

}  // namespace vringlab::sim
