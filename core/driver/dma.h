// The DMA seam: how a driver makes its memory known to a device that does not
// see guest physical addresses (ACCESS_PLATFORM), and what it costs it nothing
// where the device does.
#pragma once

#include <concepts>
#include <cstdint>

#include "core/memory/guest_memory.h"
#include "core/spec/error.h"

namespace vringlab {

// An address as the device sees it.
struct DmaAddr {
  std::uint64_t value = 0;
  auto operator<=>(const DmaAddr&) const = default;
};

constexpr DmaAddr operator+(DmaAddr addr, std::uint64_t bytes) { return {addr.value + bytes}; }

// Who writes what is mapped: the driver, the device, or both in turn.
enum class DmaDirection : std::uint8_t { kToDevice, kFromDevice, kBidirectional };

constexpr bool device_reads(DmaDirection way) { return way != DmaDirection::kFromDevice; }
constexpr bool device_writes(DmaDirection way) { return way != DmaDirection::kToDevice; }

// From map to unmap the memory is the device's, except between sync_for_cpu and
// sync_for_device. A mapping is undone whole, with the length and the direction
// it was made with; a sync may name a part of it. An unmap syncs all of it for the
// processor; unmap_unsynced leaves memory as the syncs before it left it. map may fail;
// then nothing is mapped. kMaps false: addresses stay as they are and all calls do nothing.
template <class D>
concept DmaApi = requires(D d, GuestAddr addr, DmaAddr dma, std::uint32_t len, DmaDirection way) {
  { D::kMaps } -> std::convertible_to<bool>;
  { d.map(addr, len, way) } -> std::same_as<Result<DmaAddr>>;
  d.unmap(dma, len, way);
  d.unmap_unsynced(dma, len, way);
  d.sync_for_cpu(dma, len, way);
  d.sync_for_device(dma, len, way);
};

// The device sees guest physical addresses.
struct NoDma {
  static constexpr bool kMaps = false;
  Result<DmaAddr> map(GuestAddr addr, std::uint32_t, DmaDirection) { return DmaAddr{addr.value}; }
  void unmap(DmaAddr, std::uint32_t, DmaDirection) {}
  void unmap_unsynced(DmaAddr, std::uint32_t, DmaDirection) {}
  void sync_for_cpu(DmaAddr, std::uint32_t, DmaDirection) {}
  void sync_for_device(DmaAddr, std::uint32_t, DmaDirection) {}
};
static_assert(DmaApi<NoDma>);

}  // namespace vringlab
