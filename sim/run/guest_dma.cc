#include "sim/run/guest_dma.h"

namespace vringlab::sim {
namespace {

IommuConfig iommu_config(const Scenario& s) {
  if (s.iommu == "lazy") return {.mode = IommuMode::kLazy};
  if (s.iommu == "strict") return {.mode = IommuMode::kStrict};
  // A pool that everything bounces through is of a DMA layer without an IOMMU.
  const bool calls = s.iommu == "passthrough" || s.iommu == "swiotlb";
  return {.mode = calls ? IommuMode::kPassthrough : IommuMode::kOff};
}

}  // namespace

GuestDma::GuestDma(const Scenario& s, NetMachine& net, const BounceConfig& pool, NetQueue& queue)
    : iommu(iommu_config(s), net.io), queue_(queue) {
  if (iommu.maps()) queue.put_behind(net.io);
  if (pool.slots > 0) bounce_.emplace(net.memory, pool);
}

void GuestDma::add_to(DmaResult& r) const {
  const IommuCounters& counters = iommu.counters();
  r.maps += counters.maps;
  r.unmaps += counters.unmaps;
  r.invalidations += counters.invalidations;
  r.tree_searches += counters.tree_searches;
  r.mapped_pages += counters.mapped_pages;
  r.iotlb_misses += queue_.context.iommu.misses;
  if (!bounce_) return;
  const BounceState& state = bounce_->state();
  r.maps += state.maps;
  r.unmaps += state.unmaps;
  r.bounced_bytes += state.copied_in + state.copied_out;
  r.pool_slots += state.slots_in_use;
}

}  // namespace vringlab::sim
