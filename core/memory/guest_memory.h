// Guest physical memory as a set of regions, and its translation to host
// pointers. Bounds are checked here, once; what comes out needs no more checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/spec/error.h"

namespace vringlab {

// A guest physical address.
struct GuestAddr {
  std::uint64_t value = 0;
  auto operator<=>(const GuestAddr&) const = default;
};

// A part of a guest buffer that is contiguous in host memory.
struct Piece {
  std::byte* host = nullptr;
  std::uint32_t len = 0;  // bytes
};

// Guest physical [base, base + bytes.size()) lies at `bytes` in the host.
struct Region {
  GuestAddr base;
  std::span<std::byte> bytes;
};

class GuestMemory {
 public:
  // Regions may come in any order. Throws std::invalid_argument for an empty,
  // overlapping or wrapping region, or one whose host pointer
  // differs from its base in the lowest four bits: the caller owns the memory map, not the guest.
  explicit GuestMemory(std::vector<Region> regions);

  // Host pointer of [addr, addr + len), which must lie whole in one region.
  Result<std::byte*> contiguous(GuestAddr addr, std::uint64_t len) const {
    if (len > UINT64_MAX - addr.value) return RingError::kAddressOverflow;
    const Region* region = find(addr);
    if (region == nullptr || len > room(*region, addr)) return RingError::kAddressOutsideMemory;
    return region->bytes.data() + (addr.value - region->base.value);
  }

  // Splits [addr, addr + len) into host pieces written to `out`. Returns their
  // number; nothing is translated for len == 0. Adjacent regions may meet
  // inside a buffer; a hole is an error.
  Result<std::size_t> translate(GuestAddr addr, std::uint32_t len, std::span<Piece> out) const {
    if (len == 0) return std::size_t{0};
    if (len > UINT64_MAX - addr.value) return RingError::kAddressOverflow;
    const Region* region = find(addr);
    if (region == nullptr) return RingError::kAddressOutsideMemory;
    if (len <= room(*region, addr) && !out.empty()) {
      out[0] = {region->bytes.data() + (addr.value - region->base.value), len};
      return std::size_t{1};
    }
    return translate_across(addr, len, out);
  }

  std::span<const Region> regions() const { return regions_; }

 private:
  const Region* find(GuestAddr addr) const {
    for (const Region& region : regions_) {
      if (addr.value - region.base.value < region.bytes.size()) return &region;
    }
    return nullptr;
  }
  // Bytes of `region` from `addr`, which it contains, to its end.
  static std::uint64_t room(const Region& region, GuestAddr addr) {
    return region.bytes.size() - (addr.value - region.base.value);
  }
  Result<std::size_t> translate_across(GuestAddr addr, std::uint32_t len,
                                       std::span<Piece> out) const;

  std::vector<Region> regions_;  // sorted by base
};

}  // namespace vringlab
