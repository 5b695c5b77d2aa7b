// What every block scenario has, whoever serves it: memory, cores, a disk with its bytes
// and a file on it, and the work of the guest's jobs.
#pragma once

#include <deque>
#include <optional>

#include "sim/guest/blk_vcpu.h"
#include "sim/host/blk_bytes.h"
#include "sim/host/flusher.h"
#include "sim/run/net_machine.h"

namespace vringlab::sim {

// Where all of it lies in guest memory.
struct BlkLayout {
  std::vector<QueueLayout> queues;
  std::vector<std::uint64_t> slots;  // data of an I/O, then its requests; by job and slot
  MemorySizes sizes;
};
BlkLayout lay_out_blk(const Scenario& scenario);

// The scenario with the ring as a process has it: mapped, and its own.
Scenario user_space_scenario(Scenario scenario);

// Requests that an I/O of the scenario is split into.
std::uint32_t requests_of_io(const BlkScenario& blk);
// Bytes of the largest of them.
std::uint64_t request_bytes(const BlkScenario& blk);

class BlkMachine {
 public:
  BlkMachine(const Scenario& scenario, std::size_t threads);

 private:
  BlkLayout layout_;

 public:
  NetMachine net;
  std::deque<Core> cores;
  std::vector<Core*> vcpu_cores;
  std::vector<Core*> worker_cores;
  Core& background_core;  // writes back
  Core& control_core;     // maps rings
  Signals signals;
  DiskPreset disk_kind;
  Disk disk;
  std::vector<std::byte> bytes_memory;  // of the disk, where data is moved
  BlkBytes bytes;
  HostFile file;
  Flusher flusher;
  BlkWork work;

  const BlkLayout& layout() const { return layout_; }
  // Null for a RAM disk.
  Disk* queued_disk() { return disk_kind.depth == 0 ? nullptr : &disk; }
  // A core; those that touch no simulated memory may share `id`.
  Core& new_core(CoreId id);

  static constexpr CoreId kSharedCore = 15;  // of those that touch none

 private:
  std::vector<Core*> new_cores(CoreId first, std::uint32_t count);
};

}  // namespace vringlab::sim
