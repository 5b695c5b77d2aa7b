#include "sim/run/kernel_rx.h"

#include <cmath>

namespace vringlab::sim {

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

}  // namespace vringlab::sim
