#include "core/spec/error.h"

#include <array>

namespace vringlab {
namespace {
constexpr std::array<std::string_view, static_cast<std::size_t>(RingError::kCount)> kNames = {
    "none",
    "queue size",
    "ring area alignment",
    "ring area outside memory",
    "avail index ahead",
    "head out of range",
    "head in flight",
    "next out of range",
    "chain too long",
    "chain bytes overflow",
    "readable after writable",
    "address overflow",
    "address outside memory",
    "too many pieces",
    "indirect not negotiated",
    "indirect with next",
    "indirect nested",
    "indirect length",
    "indirect too long",
    "unexpected writable",
    "unexpected readable",
    "nothing writable",
    "header too short",
    "frame too short",
    "frame too long",
    "checksum range",
    "segment size",
    "no buffer",
    "used index ahead",
    "used id out of range",
    "used id not in flight",
    "used length",
    "ring full",
    "empty chain",
    "queue broken",
    "queue disabled",
    "queue not empty",
    "DMA mapping",
    "no DMA api",
    "reset not negotiated",
    "reset refused",
    "no ring memory",
    "AF_XDP ring index",
};
static_assert(!kNames.back().empty(), "each RingError has a name");
}  // namespace

std::string_view describe(RingError error) {
  const auto index = static_cast<std::size_t>(error);
  return index < kNames.size() ? kNames[index] : "unknown";
}

}  // namespace vringlab
