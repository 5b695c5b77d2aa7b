// What every network scenario has: memory laid out once, a machine with its table of
// operations, and for each virtqueue all that lies between guest and worker.
#pragma once

#include <cstdlib>
#include <memory>

#include "core/backend/net/xdp_buffer.h"
#include "core/driver/driver_ring.h"
#include "core/ring/device_ring.h"
#include "sim/access/mapping.h"
#include "sim/guest/frame_pool.h"
#include "sim/host/caller.h"
#include "sim/host/sinks.h"
#include "sim/run/scenario.h"

namespace vringlab::sim {

// Where one virtqueue lies in guest memory, which begins at guest address 0.
struct QueueLayout {
  QueueConfig ring;
  GuestAddr tables;                 // indirect tables
  std::uint16_t table_entries = 2;  // of each
  FramePool frames;                 // host pointer not set
};

// Places things in simulated memory, page by page.
class Layout {
 public:
  explicit Layout(std::uint64_t begin) : at_(begin) {}

  std::uint64_t place(std::uint64_t bytes);
  // A ring of the scenario, and `buffers` buffers for frames of `frame_bytes`.
  QueueLayout place_queue(const Scenario& scenario, std::uint32_t buffers,
                          std::uint32_t frame_bytes);
  // Its areas alone, and tables of so many entries.
  QueueLayout place_ring(const Scenario& scenario, std::uint16_t table_entries);
  std::uint64_t end() const { return at_; }

 private:
  std::uint64_t at_;
};

// Page-aligned memory, zeroed.
class Arena {
 public:
  explicit Arena(std::size_t bytes);
  std::span<std::byte> bytes() const { return {memory_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::size_t size_;
  std::unique_ptr<std::byte[], Free> memory_;
};

// Memory of the guest, then of the host.
struct MemorySizes {
  std::uint64_t guest_bytes = 0;
  std::uint64_t host_bytes = 0;
};

class NetMachine {
 public:
  NetMachine(const Scenario& scenario, const MemorySizes& sizes, CoreId cores);
  // Of a device in user space: what it copies is its own memory, and so is the ring.
  struct UserSpace {};
  NetMachine(const Scenario& scenario, const MemorySizes& sizes, CoreId cores, UserSpace);

  std::span<std::byte> guest_bytes() const { return arena_.bytes().first(sizes_.guest_bytes); }
  std::span<std::byte> host_bytes() const { return arena_.bytes().subspan(sizes_.guest_bytes); }
  std::uint32_t tlb_pages() const { return mapped_page(sizes_.guest_bytes) + 1; }

 private:
  NetMachine(const Scenario& scenario, const MemorySizes& sizes, CoreId cores,
             const KernelPreset& kernel, const CostModel& costs);

  MemorySizes sizes_;
  KernelPreset kernel_;
  HostPreset host_;
  Arena arena_;

 public:
  SinkKind sink;
  Machine machine;
  std::vector<Operation> operations;
  GuestMemory memory;
  GuestPages pages;
  IoDomain io;  // of all queues that are behind an IOMMU
};

// Distance between two cores by the scenario's name for it.
Distance distance_of(const std::string& name);

// The picoseconds between two events at `per_second`; 0 for never.
std::uint64_t period_ps(double per_second);

// One virtqueue: the driver's half on the guest's core, and what the device's half
// needs on the worker's. Its mapping is made by `control`, at once.
class NetQueue {
 public:
  NetQueue(NetMachine& net, const Scenario& scenario, const QueueLayout& layout, Core& guest,
           Core& worker, Core& control);
  NetQueue(const NetQueue&) = delete;  // its parts point at one another
  NetQueue& operator=(const NetQueue&) = delete;

  DeviceRing<ModelAccess, ModelPayload> device_ring();
  FramePool frames() const;
  // Where a driver on `guest` has its ring, if it lies there.
  RingPlace<ModelDriverAccess> place(const QueueConfig& ring, Core& guest) const;
  // The ring lies elsewhere now; the device's half is anew that of device_ring. Maps it on `core`.
  void move_to(const QueueConfig& ring, Core& core);
  // From now on the device sees I/O addresses.
  void put_behind(IoDomain& domain);

 private:
  NetMachine& net_;
  QueueLayout layout_;
  AccessPlan plan_;
  RingAreas areas_;

 public:
  Doorbells bells;
  DeviceContext context;
  RingMapping mapping;
  DriverRing<ModelDriverAccess> driver;
  ModelCaller caller;
  std::uint64_t setup_ps = 0;  // of mapping the ring

  const QueueConfig& ring() const { return layout_.ring; }
};

}  // namespace vringlab::sim
