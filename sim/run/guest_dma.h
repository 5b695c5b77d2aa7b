// What a guest maps the buffers of a queue by: the processor's part of an IOMMU, or a bounce pool.
#pragma once

#include <optional>

#include "core/driver/bounce_dma.h"
#include "sim/machine/iommu.h"
#include "sim/run/net_machine.h"
#include "sim/run/result.h"

namespace vringlab::sim {

// Of a guest without a kernel of its own it does nothing.
class GuestDma {
 public:
  // From now on the device of `queue` sees what is mapped.
  GuestDma(const Scenario& scenario, NetMachine& net, const BounceConfig& pool, NetQueue& queue);

  BounceDma* pool() { return bounce_ ? &*bounce_ : nullptr; }
  // What mapping took, added to that of other queues.
  void add_to(DmaResult& result) const;

  Iommu iommu;

 private:
  std::optional<BounceDma> bounce_;
  const NetQueue& queue_;
};

}  // namespace vringlab::sim
