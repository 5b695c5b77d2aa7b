// What came out of a run, as a plain struct. All figures are simulated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/cost/names.h"

namespace vringlab::sim {

struct LedgerRow {
  Cost cost = Cost::kCount;
  Step step = Step::kCount;
  std::uint64_t ps = 0;     // picoseconds spent
  std::uint64_t count = 0;  // occurrences
};

struct CoreResult {
  std::string name;           // guest, worker, control, or another by its work
  std::uint64_t busy_ps = 0;  // equals the sum of its ledger
  std::uint64_t idle_ps = 0;
  std::vector<LedgerRow> ledger;  // rows that are not zero, by step, then cost
};

struct LatencyResult {
  std::uint64_t mean_ps = 0;  // from the guest's add to the sink
  std::uint64_t p50_ps = 0;   // quantiles to within 1/32
  std::uint64_t p90_ps = 0;
  std::uint64_t p99_ps = 0;
  std::uint64_t max_ps = 0;
};

// What a run of the workload "blk" has besides; zero in others.
struct BlkResult {
  std::uint64_t requests = 0;       // that the guest made of its I/Os
  std::uint64_t failed = 0;         // of those, answered with another status than OK
  std::uint64_t merged = 0;         // requests merged into others by a VMM
  std::uint64_t disk_requests = 0;  // that the disk worked on
  std::uint64_t disk_merged = 0;    // merged into others before it did
  std::uint64_t disk_read_bytes = 0;
  std::uint64_t disk_write_bytes = 0;
  std::uint64_t disk_busy_ps = 0;
  std::uint64_t cache_hit_pages = 0;   // of reads through the page cache
  std::uint64_t cache_miss_pages = 0;  // of those, waited for
  std::uint64_t guest_system_ps = 0;   // of all virtual processors, what is not the application
  std::uint64_t wrong_bytes = 0;       // read again, and not what was written
  std::uint64_t data_hash = 0;         // FNV-1a of the disk at the end, where data is moved
};

// What a guest's DMA mappings took; zero where nothing is mapped.
struct DmaResult {
  std::uint64_t maps = 0;
  std::uint64_t unmaps = 0;
  std::uint64_t invalidations = 0;  // of the IOTLB, that were waited for
  std::uint64_t tree_searches = 0;  // for I/O addresses that no cache had
  std::uint64_t mapped_pages = 0;   // at the end
  std::uint64_t iotlb_misses = 0;   // of the device's accesses
  std::uint64_t bounced_bytes = 0;  // copied into a pool and out of it
  std::uint64_t pool_slots = 0;     // of a pool, in use at the end
};

struct RunResult {
  std::uint64_t packets = 0;     // frames that reached the sink
  std::uint64_t bytes = 0;       // their length
  std::uint64_t refused = 0;     // chains given back unsent
  std::uint64_t dropped = 0;     // frames that the socket refused or a NIC had no room for
  std::uint64_t elapsed_ps = 0;  // start until the last frame was sent and published
  double rate_pps = 0;           // packets a second of elapsed time; 0 if none elapsed
  std::vector<CoreResult> cores;
  LatencyResult latency;
  std::uint64_t batches = 0;         // calls into the socket
  std::uint64_t alone = 0;           // of them, with one frame that could not be batched
  std::uint64_t lent = 0;            // frames that were not copied
  std::uint64_t kicks = 0;           // by the guest
  std::uint64_t calls = 0;           // by the device
  std::uint64_t wakeups = 0;         // of the worker
  std::uint64_t inline_packets = 0;  // served by the kick itself
  std::uint64_t interrupts = 0;      // taken by the guest
  std::uint64_t invalidations = 0;   // of the ring's mapping
  std::uint64_t resizes = 0;         // of the queue, by the guest
  std::uint64_t pinned_bytes = 0;    // guest memory held by the mapping
  std::uint64_t setup_ps = 0;        // of mapping the ring
  std::uint64_t teardown_ps = 0;     // of unmapping it
  DmaResult dma;
  BlkResult blk;
  std::uint64_t guest_memory_hash = 0;  // FNV-1a of all guest memory at the end
};

}  // namespace vringlab::sim
