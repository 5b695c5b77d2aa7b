// Guest memory of a simulated machine for a block queue, and the simulated stores behind one.
#pragma once

#include "sim/host/bio_store.h"
#include "sim/host/file_store.h"
#include "sim/host/vmm_store.h"
#include "tests/double/blk_rig.h"
#include "tests/double/model_machine.h"

namespace vringlab::test {

// What BlkRig asks of memory, in one region.
struct ModelBlkGuest {
  using Access = sim::ModelAccess;
  using Payload = sim::ModelPayload;

  ModelMachine* machine;

  const GuestMemory& memory() const { return machine->memory; }
  std::size_t regions() const { return 1; }
  Access access(const RingAreas& areas) { return {machine->context, areas, machine->plan}; }
  Payload payload() { return {machine->context, machine->memory}; }
  std::byte& byte(std::uint64_t addr) { return machine->bytes.at(addr); }
  template <class T>
  void write(std::uint64_t addr, const T& value) {
    std::memcpy(&byte(addr), &value, sizeof(value));
  }
  void write_table(std::uint64_t addr, std::span<const Desc> entries) {
    for (const Desc& entry : entries) {
      write(addr, entry);
      addr += sizeof(Desc);
    }
  }
};

template <class Store>
using ModelBlkRig = BlkRig<Store, ModelBlkGuest>;

// A simulated disk with its bytes, a file on it, and a pool of threads.
struct ModelDisk {
  static constexpr std::uint16_t kThreads = 2;

  ModelMachine& machine;
  std::vector<std::byte> memory;
  sim::BlkBytes bytes{memory};
  sim::Signals signals;
  sim::Disk disk;
  sim::HostFile file;
  sim::PoolState pool_state;
  sim::Group<sim::PoolThread> threads;
  sim::ThreadPool pool{threads, pool_state};

  ModelDisk(ModelMachine& on, std::size_t disk_bytes, sim::CacheMode mode, std::uint32_t depth)
      : machine(on),
        memory(disk_bytes),
        disk({.read = {1000, 7000, 2}, .write = {3000, 2000, 1}, .flush_ps = 9000},
             {.depth = depth}),
        file(&disk,
             {.mode = mode,
              .capacity_bytes = disk_bytes,
              .cache_pages = 5,  // fewer than the disk has
              .read_ahead_pages = 2,
              .dirty_limit_pages = 2,
              .dirty_background_pages = 1},
             kThreads) {
    for (std::uint16_t i = 0; i < kThreads; ++i)
      threads.add(i == 0 ? machine.driver_core : machine.control_core, signals, file, pool_state,
                  i);
  }

  // The next request of the disk completes: requests of queues by done(slot), threads by
  // resume(thread); blocked(thread) is the operation of a thread that waits.
  template <class Blocked, class Done, class Resume>
  void complete(Blocked blocked, Done done, Resume resume) {
    while (file.wants_writing()) file.write_back(machine.control_core);
    if (!disk.runnable()) return;
    machine.device_core.idle_until(disk.core().now());
    disk.step();
    while (disk.completed()) {
      const sim::DiskClient client = disk.take();
      if (client.kind == sim::DiskClient::Kind::kRequest) {
        done(client.slot);
      } else {
        file.disk_done(client, client.kind == sim::DiskClient::Kind::kThread ? blocked(client.index)
                                                                             : nullptr);
      }
    }
    while (file.any_woken()) resume(file.take_woken());
  }
};

}  // namespace vringlab::test
