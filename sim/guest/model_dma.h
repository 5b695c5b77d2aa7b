// The DMA seam of the driver's half on a simulated machine: each call pays what the
// kernel's DMA layer, the IOMMU or the bounce pool cost.
#pragma once

#include <algorithm>
#include <optional>

#include "core/driver/dma.h"
#include "sim/access/mapping.h"
#include "sim/access/operations.h"
#include "sim/guest/model_bounce.h"
#include "sim/machine/iommu.h"

namespace vringlab::sim {

class ModelDma {
 public:
  static constexpr bool kMaps = true;

  // `bounce`: the pool that everything goes through where the IOMMU maps nothing; null: none.
  ModelDma(Core& core, Iommu& iommu, BounceDma* bounce = nullptr) : core_(&core), iommu_(&iommu) {
    if (bounce != nullptr) bounce_.emplace(core, *bounce);
  }

  Result<DmaAddr> map(GuestAddr addr, std::uint32_t len, DmaDirection way) {
    if (!iommu_->maps()) {
      call();
      return bounce_ ? bounce_->map(addr, len, way) : DmaAddr{addr.value};
    }
    const std::uint32_t pages = pages_of(addr.value, len);
    const IoRange range = iommu_->map(page_of(addr.value), pages);
    core_->run(operation_index(range.cached ? Op::kIovaCached : Op::kIovaTree));
    core_->run(operation_index(Op::kIommuMap));
    core_->run_times(operation_index(Op::kIommuMapMore), pages - 1);
    return DmaAddr{std::uint64_t{range.page} * kPageBytes + addr.value % kPageBytes};
  }
  void unmap(DmaAddr dma, std::uint32_t len, DmaDirection way) {
    if (iommu_->maps()) return unmap_pages(dma, len);
    call();
    if (bounce_) bounce_->unmap(dma, len, way);
  }
  void unmap_unsynced(DmaAddr dma, std::uint32_t len, DmaDirection way) {
    if (iommu_->maps()) return unmap_pages(dma, len);
    call();
    if (bounce_) bounce_->unmap_unsynced(dma, len, way);
  }
  void sync_for_cpu(DmaAddr dma, std::uint32_t len, DmaDirection way) {
    sync();
    if (bounce_) bounce_->sync_for_cpu(dma, len, way);
  }
  void sync_for_device(DmaAddr dma, std::uint32_t len, DmaDirection way) {
    sync();
    if (bounce_) bounce_->sync_for_device(dma, len, way);
  }

 private:
  void unmap_pages(DmaAddr dma, std::uint32_t len) {
    const std::uint32_t pages = pages_of(dma.value, len);
    core_->run(operation_index(Op::kIommuUnmap));
    core_->run_times(operation_index(Op::kIommuUnmapMore), pages - 1);
    if (!iommu_->unmap(page_of(dma.value), pages, core_->now())) return;
    const std::uint64_t cost = core_->operation_ps(operation_index(Op::kIotlbInvalidate));
    const std::uint64_t done = iommu_->invalidate(core_->now(), cost);
    core_->charge(Cost::kIotlbInvalidate, Step::kDmaUnmap, done - core_->now());
  }
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
  std::optional<ModelBounce> bounce_;
};
static_assert(DmaApi<ModelDma>);

}  // namespace vringlab::sim
