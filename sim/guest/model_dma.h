// The DMA seam of the driver's half on a simulated machine: each call pays what the
// kernel's DMA layer and the IOMMU cost.
#pragma once

#include <algorithm>

#include "core/driver/dma.h"
#include "sim/access/mapping.h"
#include "sim/access/operations.h"
#include "sim/machine/iommu.h"

namespace vringlab::sim {

class ModelDma {
 public:
  static constexpr bool kMaps = true;

  ModelDma(Core& core, Iommu& iommu) : core_(&core), iommu_(&iommu) {}

  Result<DmaAddr> map(GuestAddr addr, std::uint32_t len, DmaDirection) {
    if (!iommu_->maps()) {
      call();
      return DmaAddr{addr.value};
    }
    const std::uint32_t pages = pages_of(addr.value, len);
    const IoRange range = iommu_->map(page_of(addr.value), pages);
    core_->run(operation_index(range.cached ? Op::kIovaCached : Op::kIovaTree));
    core_->run(operation_index(Op::kIommuMap));
    core_->run_times(operation_index(Op::kIommuMapMore), pages - 1);
    return DmaAddr{std::uint64_t{range.page} * kPageBytes + addr.value % kPageBytes};
  }
  void unmap(DmaAddr dma, std::uint32_t len, DmaDirection) {
    if (!iommu_->maps()) return call();
    const std::uint32_t pages = pages_of(dma.value, len);
    core_->run(operation_index(Op::kIommuUnmap));
    core_->run_times(operation_index(Op::kIommuUnmapMore), pages - 1);
    if (!iommu_->unmap(page_of(dma.value), pages, core_->now())) return;
    const std::uint64_t cost = core_->operation_ps(operation_index(Op::kIotlbInvalidate));
    const std::uint64_t done = iommu_->invalidate(core_->now(), cost);
    core_->charge(Cost::kIotlbInvalidate, Step::kDmaUnmap, done - core_->now());
  }
  void unmap_unsynced(DmaAddr dma, std::uint32_t len, DmaDirection way) { unmap(dma, len, way); }
  void sync_for_cpu(DmaAddr, std::uint32_t, DmaDirection) { sync(); }
  void sync_for_device(DmaAddr, std::uint32_t, DmaDirection) { sync(); }

 private:
  static std::uint32_t page_of(std::uint64_t addr) {
    return static_cast<std::uint32_t>(addr / kPageBytes);
  }
  static std::uint32_t pages_of(std::uint64_t addr, std::uint32_t len) {
    return static_cast<std::uint32_t>(page_span(addr, std::max(len, 1u)));
  }
  void call() {
    if (iommu_->mode() == IommuMode::kPassthrough) core_->run(operation_index(Op::kDmaCall));
  }
  void sync() {
    if (iommu_->mode() != IommuMode::kOff) core_->run(operation_index(Op::kDmaSync));
  }

  Core* core_;
  Iommu* iommu_;
};
static_assert(DmaApi<ModelDma>);

}  // namespace vringlab::sim
