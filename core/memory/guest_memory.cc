#include "core/memory/guest_memory.h"

#include <algorithm>
#include <stdexcept>

namespace vringlab {
namespace {
constexpr std::uint64_t kRegionAlign = 16;  // that of the descriptor table (2.7)
}

GuestMemory::GuestMemory(std::vector<Region> regions) : regions_(std::move(regions)) {
  std::ranges::sort(regions_, {}, &Region::base);
  std::uint64_t end = 0;
  for (const Region& region : regions_) {
    if (region.bytes.empty()) throw std::invalid_argument("guest region of zero bytes");
    if (region.base.value < end) throw std::invalid_argument("guest regions overlap");
    if (region.bytes.size() > UINT64_MAX - region.base.value)
      throw std::invalid_argument("guest region passes 2^64");
    // Ring areas are aligned by guest address and read in place by host address.
    const auto host = reinterpret_cast<std::uintptr_t>(region.bytes.data());
    if ((host - region.base.value) % kRegionAlign != 0)
      throw std::invalid_argument("guest region and host memory differ in alignment");
    end = region.base.value + region.bytes.size();
  }
}

Result<std::size_t> GuestMemory::translate_across(GuestAddr addr, std::uint32_t len,
                                                  std::span<Piece> out) const {
  std::size_t count = 0;
  while (len > 0) {
    const Region* region = find(addr);
    if (region == nullptr) return RingError::kAddressOutsideMemory;
    if (count == out.size()) return RingError::kTooManyPieces;
    const auto part = static_cast<std::uint32_t>(std::min<std::uint64_t>(len, room(*region, addr)));
    out[count++] = {region->bytes.data() + (addr.value - region->base.value), part};
    addr.value += part;
    len -= part;
  }
  return count;
}

}  // namespace vringlab
