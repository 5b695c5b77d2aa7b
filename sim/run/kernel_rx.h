// What a guest kernel's receive queue has besides the queue: fragments that buffers are cut
// from, a bounce pool, and the processor's part of the IOMMU.
#pragma once

#include <optional>

#include "core/driver/bounce_dma.h"
#include "core/driver/rx_buffers.h"
#include "sim/machine/iommu.h"
#include "sim/run/net_machine.h"
#include "sim/run/result.h"

namespace vringlab::sim {

// Where they lie in guest memory; nothing, where the guest is no kernel.
struct KernelRxLayout {
  RxBuffersConfig fragments;
  BounceConfig pool;
};
KernelRxLayout place_kernel_rx(const Scenario& scenario, Layout& guest);

// How long a poll that found little puts off the next interrupt.
std::uint64_t defer_ps(const Scenario& scenario);

// What the queue's buffers are mapped by.
class KernelRxDma {
 public:
  // From now on the device of `queue` sees what is mapped.
  KernelRxDma(const Scenario& scenario, NetMachine& net, const KernelRxLayout& layout,
              NetQueue& queue);

  BounceDma* pool() { return bounce_ ? &*bounce_ : nullptr; }
  // What mapping took, added to that of other queues.
  void add_to(DmaResult& result) const;

  Iommu iommu;

 private:
  std::optional<BounceDma> bounce_;
  const NetQueue& queue_;
};

}  // namespace vringlab::sim
