#include "sim/run/kernel_rx.h"

#include <cmath>

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

KernelRxLayout place_kernel_rx(const Scenario& s, Layout& guest) {
  KernelRxLayout layout;
  if (!cuts_buffers(s)) return layout;
  const std::uint32_t fragments = kernel_fragments(s);
  layout.fragments = {.base = {guest.place(std::uint64_t{fragments} * s.fragment_bytes)},
                      .fragments = fragments,
                      .fragment_bytes = s.fragment_bytes,
                      .sizing = {.min_bytes = s.min_buffer_bytes}};
  if (s.iommu != "swiotlb") return layout;
  layout.pool = {.pool = {guest.place(std::uint64_t{s.swiotlb_slots} * kSwiotlbSlotBytes)},
                 .slots = s.swiotlb_slots,
                 .slot_bytes = kSwiotlbSlotBytes};
  return layout;
}

std::uint64_t defer_ps(const Scenario& s) {
  return static_cast<std::uint64_t>(std::llround(s.napi_defer_us * 1e6));
}

KernelRxDma::KernelRxDma(const Scenario& s, NetMachine& net, const KernelRxLayout& layout,
                         NetQueue& queue)
    : iommu(iommu_config(s), net.io), queue_(queue) {
  if (iommu.maps()) queue.put_behind(net.io);
  if (layout.pool.slots > 0) bounce_.emplace(net.memory, layout.pool);
}

void KernelRxDma::add_to(DmaResult& r) const {
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
