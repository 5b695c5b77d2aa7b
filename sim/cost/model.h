// Cost rows resolved for one host, kernel and set of overrides: plain numbers in
// picoseconds, converted once.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sim/cost/names.h"
#include "sim/cost/presets.h"

namespace vringlab::sim {

// A row set to a value, in the row's own unit. "clock_ghz" sets the host's clock.
struct CostOverride {
  std::string name;
  double value = 0;
};

struct CostModel {
  double clock_ghz = 0;
  std::array<std::uint64_t, kCosts> ps{};  // picoseconds of one occurrence
  double copy_ps_per_byte = 0;             // picoseconds a byte, source and target in L1
  double tcp_write_ps_per_byte = 0;        // kTcpWriteBytes
  double tcp_read_ps_per_byte = 0;         // kTcpReadBytes
  double ooo_overlap = 0;                  // share of a load miss hidden by following work
  double store_exposed = 0;                // share of a store miss waited for
  std::uint64_t wakeup_ps = 0;             // from wake-up to running: latency, not work
  std::uint64_t until_switch_ps = 0;       // its part before the context switch, which ends it
  std::uint64_t time_slice_ps = 0;         // of a thread while others wait for its core
  std::uint64_t irq_latency_ps = 0;        // from call to the guest's handler: latency
  std::uint64_t nic_completion_ps = 0;     // from a frame sent to its notice: latency
  std::uint64_t stlb_hit_ps = 0;           // kTlb, second level holds the page
  std::uint64_t page_walk_ps = 0;          // kTlb, page walk

  std::uint64_t operator[](Cost cost) const { return ps[index(cost)]; }
};

// Throws std::invalid_argument for an unknown row, or a value that is negative,
// not finite or, for a fraction, above one.
CostModel resolve_costs(const HostPreset& host, const KernelPreset& kernel,
                        const std::vector<CostOverride>& overrides);

// One disk's rows resolved. Reads and writes may pay differently.
struct DiskCosts {
  struct Direction {
    std::uint64_t request_ps = 0;  // that the disk serves nobody else, beside the bytes
    std::uint64_t latency_ps = 0;  // beside that, while it serves others
    double ps_per_byte = 0;
  };
  Direction read;
  Direction write;
  std::uint64_t seek_ps = 0;   // to bytes that don't follow those served last
  std::uint64_t turn_ps = 0;   // what a write waits that comes when the disk has stopped writing
  std::uint64_t flush_ps = 0;  // its own cache written out
};
DiskCosts resolve_disk(const HostPreset& host, const DiskPreset& disk,
                       const std::vector<CostOverride>& overrides);

}  // namespace vringlab::sim
