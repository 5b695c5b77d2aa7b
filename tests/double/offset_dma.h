// A DMA api that counts and never allocates: addresses are guest physical ones,
// moved by a constant.
#pragma once

#include <cstdint>

#include "core/driver/dma.h"

namespace vringlab::test {

struct OffsetDma {
  static constexpr bool kMaps = true;
  static constexpr std::uint64_t kOffset = std::uint64_t{1} << 40;

  std::int64_t mapped = 0;
  std::uint64_t maps = 0;
  std::uint64_t syncs = 0;

  Result<DmaAddr> map(GuestAddr addr, std::uint32_t, DmaDirection) {
    ++mapped;
    ++maps;
    return DmaAddr{addr.value + kOffset};
  }
  void unmap(DmaAddr, std::uint32_t, DmaDirection) { --mapped; }
  void unmap_unsynced(DmaAddr, std::uint32_t, DmaDirection) { --mapped; }
  void sync_for_cpu(DmaAddr, std::uint32_t, DmaDirection) { ++syncs; }
  void sync_for_device(DmaAddr, std::uint32_t, DmaDirection) { ++syncs; }
};
static_assert(DmaApi<OffsetDma>);

}  // namespace vringlab::test
