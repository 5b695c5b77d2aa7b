// How receive buffers cut from fragments are mapped: a policy of RxBuffers.
#pragma once

#include <concepts>
#include <cstdint>
#include <vector>

#include "core/driver/dma.h"

namespace vringlab {

// A piece of a fragment.
struct RxCut {
  std::uint32_t fragment = 0;
  std::uint32_t offset = 0;  // bytes
  std::uint32_t len = 0;     // bytes
};

// open: the allocator cuts buffers from a fragment from now on; close: no more.
// attach: a buffer goes to the device; detach: it comes back, `written` bytes of
// it for the processor to read. Only what open and attach accepted is undone.
template <class P>
concept RxMapping = requires(P p, std::uint32_t fragment, GuestAddr addr, std::uint32_t bytes,
                             const RxCut& cut, DmaAddr dma) {
  { p.open(fragment, addr, bytes) } -> std::same_as<RingError>;
  p.close(fragment);
  { p.attach(cut, addr) } -> std::same_as<Result<DmaAddr>>;
  p.detach(cut, dma, bytes);
};

// One mapping a fragment, counted: by the allocator while it cuts, and by each
// buffer at the device. A buffer costs a sync. The end of the mapping must not be one as
// well: by then packets of the fragment are the processor's, and may have been changed.
template <DmaApi Dma>
class MapPerFragment {
 public:
  MapPerFragment(Dma& dma, std::uint32_t fragments) : dma_(&dma), fragments_(fragments) {}

  RingError open(std::uint32_t fragment, GuestAddr addr, std::uint32_t bytes) {
    const Result<DmaAddr> mapped = dma_->map(addr, bytes, DmaDirection::kFromDevice);
    if (!mapped.ok()) return mapped.error();
    fragments_[fragment] = {mapped.value(), bytes, 1};
    return RingError::kNone;
  }
  void close(std::uint32_t fragment) { put(fragments_[fragment]); }
  Result<DmaAddr> attach(const RxCut& cut, GuestAddr) {
    Fragment& fragment = fragments_[cut.fragment];
    ++fragment.refs;
    return fragment.dma + cut.offset;
  }
  void detach(const RxCut& cut, DmaAddr dma, std::uint32_t written) {
    if (written > 0) dma_->sync_for_cpu(dma, written, DmaDirection::kFromDevice);
    put(fragments_[cut.fragment]);
  }

  std::uint32_t refs(std::uint32_t fragment) const { return fragments_[fragment].refs; }

 private:
  struct Fragment {
    DmaAddr dma;
    std::uint32_t bytes = 0;
    std::uint32_t refs = 0;  // buffers at the device, and one while the allocator cuts; 0: unmapped
  };

  void put(Fragment& fragment) {
    if (--fragment.refs > 0) return;
    dma_->unmap_unsynced(fragment.dma, fragment.bytes, DmaDirection::kFromDevice);
  }

  Dma* dma_;
  std::vector<Fragment> fragments_;
};

// Each buffer by itself.
template <DmaApi Dma>
class MapPerBuffer {
 public:
  MapPerBuffer(Dma& dma, std::uint32_t) : dma_(&dma) {}

  RingError open(std::uint32_t, GuestAddr, std::uint32_t) { return RingError::kNone; }
  void close(std::uint32_t) {}
  Result<DmaAddr> attach(const RxCut& cut, GuestAddr addr) {
    return dma_->map(addr, cut.len, DmaDirection::kFromDevice);
  }
  void detach(const RxCut& cut, DmaAddr dma, std::uint32_t) {
    dma_->unmap(dma, cut.len, DmaDirection::kFromDevice);
  }

 private:
  Dma* dma_;
};

static_assert(RxMapping<MapPerFragment<NoDma>> && RxMapping<MapPerBuffer<NoDma>>);

}  // namespace vringlab
