// A DMA api that knows what is mapped and forgives nothing: an unmap or a sync of
// what is not mapped so, a device that reaches what it was not given. Addresses
// are far from guest physical ones and never come twice. May be told to fail.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/driver/dma.h"
#include "core/memory/guest_memory.h"

namespace vringlab::test {

class CountingDma {
 public:
  static constexpr bool kMaps = true;

  Result<DmaAddr> map(GuestAddr addr, std::uint32_t len, DmaDirection way) {
    if (fails_in_ == 0 || (fails_in_ > 0 && --fails_in_ == 0)) {
      fails_in_ = fails_for_ever_ ? 0 : kNever;
      return RingError::kDmaMapping;
    }
    const DmaAddr dma{next_ + (addr.value & 0xfff)};
    next_ += ((addr.value & 0xfff) + len + 0x1fff) & ~std::uint64_t{0xfff};  // and a page between
    live_[dma.value] = {addr, len, way};
    mapped_bytes_ += len;
    ++maps_;
    return dma;
  }
  void unmap(DmaAddr dma, std::uint32_t len, DmaDirection way) {
    ++unmaps_;
    const auto at = live_.find(dma.value);
    if (at == live_.end()) return blame("unmaps what is not mapped");
    if (at->second.len != len) blame("unmaps with another length");
    if (at->second.way != way) blame("unmaps with another direction");
    mapped_bytes_ -= at->second.len;
    live_.erase(at);
  }
  void unmap_unsynced(DmaAddr dma, std::uint32_t len, DmaDirection way) { unmap(dma, len, way); }
  void sync_for_cpu(DmaAddr dma, std::uint32_t len, DmaDirection way) { sync(dma, len, way); }
  void sync_for_device(DmaAddr dma, std::uint32_t len, DmaDirection way) { sync(dma, len, way); }

  // The map after `good` ones fails, that one alone or all from then on.
  void fail_after(int good, bool for_ever = false) {
    fails_in_ = good + 1;
    fails_for_ever_ = for_ever;
  }
  void never_fail() { fails_in_ = kNever; }

  // Where a device that writes (or reads) [dma, dma + len) ends up.
  Result<GuestAddr> guest(DmaAddr dma, std::uint64_t len, bool writes) const {
    const Mapping* mapping = find(dma, len);
    if (mapping == nullptr) return RingError::kAddressOutsideMemory;
    if (!(writes ? device_writes(mapping->way) : device_reads(mapping->way)))
      return RingError::kAddressOutsideMemory;
    return GuestAddr{mapping->addr.value + (dma.value - base_of(dma))};
  }

  std::size_t mapped() const { return live_.size(); }
  std::uint64_t mapped_bytes() const { return mapped_bytes_; }
  std::uint64_t maps() const { return maps_; }
  std::uint64_t unmaps() const { return unmaps_; }
  std::uint64_t syncs() const { return syncs_; }
  // The first thing done wrong; empty if all was right.
  const std::string& fault() const { return fault_; }

 private:
  struct Mapping {
    GuestAddr addr;
    std::uint32_t len = 0;
    DmaDirection way = DmaDirection::kToDevice;
  };
  static constexpr int kNever = -1;

  void blame(const char* what) {
    if (fault_.empty()) fault_ = what;
  }
  void sync(DmaAddr dma, std::uint32_t len, DmaDirection way) {
    ++syncs_;
    const Mapping* mapping = find(dma, len);
    if (mapping == nullptr) return blame("syncs what is not mapped");
    if (mapping->way != way) blame("syncs with another direction");
  }
  std::uint64_t base_of(DmaAddr dma) const {
    return std::prev(live_.upper_bound(dma.value))->first;
  }
  const Mapping* find(DmaAddr dma, std::uint64_t len) const {
    const auto after = live_.upper_bound(dma.value);
    if (after == live_.begin()) return nullptr;
    const auto& [base, mapping] = *std::prev(after);
    const std::uint64_t offset = dma.value - base;
    return offset <= mapping.len && len <= mapping.len - offset ? &mapping : nullptr;
  }

  std::map<std::uint64_t, Mapping> live_;  // by DMA address
  std::uint64_t next_ = std::uint64_t{1} << 40;
  std::uint64_t mapped_bytes_ = 0;
  std::uint64_t maps_ = 0;
  std::uint64_t unmaps_ = 0;
  std::uint64_t syncs_ = 0;
  int fails_in_ = kNever;
  bool fails_for_ever_ = false;
  std::string fault_;
};
static_assert(DmaApi<CountingDma>);

}  // namespace vringlab::test
