// A bounce pool on a simulated machine: bytes move as in `BounceDma`, and each copy is
// charged to the core that maps, syncs or unmaps.
#pragma once

#include "core/driver/bounce_dma.h"
#include "sim/access/operations.h"

namespace vringlab::sim {

class ModelBounce {
 public:
  static constexpr bool kMaps = true;

  ModelBounce(Core& core, BounceDma& bounce) : core_(&core), bounce_(&bounce) {}

  Result<DmaAddr> map(GuestAddr addr, std::uint32_t len, DmaDirection way) {
    core_->run(operation_index(Op::kBounceSlots));
    const Result<DmaAddr> dma = bounce_->map(addr, len, way);
    if (dma.ok()) charge_in(dma.value(), len);
    return dma;
  }
  void unmap(DmaAddr dma, std::uint32_t len, DmaDirection way) {
    if (device_writes(way)) charge_out(dma, len);
    bounce_->unmap(dma, len, way);
  }
  void unmap_unsynced(DmaAddr dma, std::uint32_t len, DmaDirection way) {
    bounce_->unmap_unsynced(dma, len, way);
  }
  void sync_for_cpu(DmaAddr dma, std::uint32_t len, DmaDirection way) {
    if (device_writes(way)) charge_out(dma, len);
    bounce_->sync_for_cpu(dma, len, way);
  }
  void sync_for_device(DmaAddr dma, std::uint32_t len, DmaDirection way) {
    if (device_reads(way)) charge_in(dma, len);
    bounce_->sync_for_device(dma, len, way);
  }

 private:
  void charge_in(DmaAddr dma, std::uint32_t len) {
    const BounceDma::Ends ends = bounce_->ends(dma);
    copy(Op::kBounceIn, Step::kDmaMap, ends.original, ends.pool, len);
  }
  void charge_out(DmaAddr dma, std::uint32_t len) {
    const BounceDma::Ends ends = bounce_->ends(dma);
    copy(Op::kBounceOut, Step::kDmaUnmap, ends.pool, ends.original, len);
  }
  void copy(Op op, Step step, const std::byte* from, const std::byte* to, std::uint32_t len) {
    if (len == 0) return;
    core_->begin(operation_index(op));
    core_->load_lines(core_->line_of(from), core_->line_of(from + len - 1), step);
    core_->store_lines(core_->line_of(to), core_->line_of(to + len - 1), step);
    core_->copy_bytes(len, step);
    core_->end(operation_index(op));
  }

  Core* core_;
  BounceDma* bounce_;
};
static_assert(DmaApi<ModelBounce>);

}  // namespace vringlab::sim
