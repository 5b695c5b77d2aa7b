// All objects of one transmit scenario, wired together. Memory is laid out once
// and doesn't grow with the number of packets.
#pragma once

#include <cstdlib>
#include <memory>

#include "sim/guest/testpmd.h"
#include "sim/host/caller.h"
#include "sim/host/sink.h"
#include "sim/host/sinks.h"
#include "sim/host/vhost_worker.h"
#include "sim/machine/scheduler.h"
#include "sim/run/scenario.h"

namespace vringlab::sim {

// Where things lie in simulated memory, in bytes from its start. Guest memory
// comes first, at guest address 0; frame buffers of the host follow.
struct TxLayout {
  QueueConfig ring;
  GuestAddr tables;  // indirect tables, two entries a head
  FramePool frames;  // host pointer not set
  std::uint64_t guest_bytes = 0;
  std::uint64_t frag_bytes = 0;  // page fragments
  std::uint64_t skb_bytes = 0;   // socket buffers of frames that are sent alone

  std::uint64_t all_bytes() const { return guest_bytes + frag_bytes + skb_bytes; }
};
TxLayout lay_out(const Scenario& scenario);

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

// Serves kicks: either rings the worker's doorbell, or first lets the kick serve
// some packets itself.
template <class Worker>
struct KickHost {
  Worker* worker;
  Doorbells* bells;
  bool serve_inline;

  void operator()(Core& core) const {
    if (serve_inline && !worker->serve_inline(core)) return;
    bells->kick = true;
    bells->kick_ps = core.now();
  }
};

// Takes the ring's mapping away at a fixed rate, as the memory manager would.
class Invalidator {
 public:
  Invalidator(Core& core, RingMapping& mapping, DeviceContext& context, std::uint64_t period_ps,
              std::uint64_t pages)
      : core_(&core), mapping_(&mapping), context_(&context), period_ps_(period_ps), pages_(pages) {
    core_->idle_until(period_ps_);
  }

  Core& core() { return *core_; }
  const Core& core() const { return *core_; }
  bool runnable() const { return period_ps_ > 0; }
  std::uint64_t invalidations() const { return invalidations_; }

  void step() {
    if (mapping_->invalidate(*core_, 0, pages_)) {
      ++invalidations_;
      context_->set_unmapped(mapping_->plan(), true);
    }
    due_ps_ = std::max(due_ps_ + period_ps_, core_->now());
    core_->idle_until(due_ps_ + period_ps_);
  }

 private:
  Core* core_;
  RingMapping* mapping_;
  DeviceContext* context_;
  std::uint64_t period_ps_;  // 0: never
  std::uint64_t pages_;      // of guest memory
  std::uint64_t due_ps_ = 0;
  std::uint64_t invalidations_ = 0;
};

class NetTxWorld {
 public:
  explicit NetTxWorld(const Scenario& scenario);

  using Device = NetTx<ModelAccess, ModelPayload, ModelFrags, ModelSink, ModelCaller>;
  using Worker = VhostWorker<Device>;
  using Guest = Testpmd<KickHost<Worker>>;

  static constexpr CoreId kGuestCore = 0;
  static constexpr CoreId kWorkerCore = 1;
  static constexpr CoreId kControlCore = 2;

 private:
  KernelPreset kernel_;
  HostPreset host_;
  SinkKind sink_;
  TxLayout layout_;
  Arena arena_;

 public:
  Machine machine;
  std::vector<Operation> operations;
  Core guest_core;
  Core worker_core;
  Core control_core;
  GuestMemory memory;
  Doorbells bells;
  DeviceContext context;
  GuestPages pages;
  RingMapping mapping;
  LatencyLog latency;
  DriverRing<ModelDriverAccess> driver;
  ModelFrags frags;
  ModelSink sink;
  ModelCaller caller;
  Device device;
  Worker worker;
  Guest guest;
  Invalidator invalidator;
  std::uint64_t setup_ps = 0;  // of mapping the ring

  std::span<const std::byte> guest_memory() const {
    return arena_.bytes().first(layout_.guest_bytes);
  }
};

}  // namespace vringlab::sim
