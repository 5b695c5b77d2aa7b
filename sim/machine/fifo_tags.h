// Which of many lines or pages a cache holds, by fill numbers. A set of W ways
// replaced first in, first out holds an item exactly if fewer than W fills of
// its set came after the item's own; so a look-up is one subtraction, and a hit
// changes nothing.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace vringlab::sim {

// The number of an item's last fill; 0: never filled, or invalidated.
using FillNumber = std::uint32_t;

// Numbers the fills of each set. The caller keeps each item's number.
template <std::uint32_t Ways>
class FifoTags {
 public:
  // A power of two sets, rounded down.
  explicit FifoTags(std::uint32_t sets)
      : mask_(std::bit_floor(sets) - 1), fills_(std::bit_floor(sets), Ways) {}

  // The same numbers, without the way through the object; valid as long as it,
  // wherever it is moved.
  struct View {
    const FillNumber* fills;
    std::uint32_t mask;

    bool holds(std::uint32_t item, FillNumber number) const {
      return fills[item & mask] - number < Ways;
    }
  };
  View view() const { return {fills_.data(), mask_}; }

  // The fills start at Ways, so that number 0 is not held.
  bool holds(std::uint32_t item, FillNumber number) const { return view().holds(item, number); }
  FillNumber fill(std::uint32_t item) { return ++fills_[item & mask_]; }

 private:
  std::uint32_t mask_;  // sets - 1; the set of an item is its lowest bits
  std::vector<FillNumber> fills_;
};

// Sets of a cache of `bytes` with 64-byte lines.
constexpr std::uint32_t line_sets(std::uint32_t bytes, std::uint32_t ways) {
  return bytes / 64 / ways;
}

}  // namespace vringlab::sim
