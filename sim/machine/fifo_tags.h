// Which of many lines or pages a cache holds, by fill numbers. A set of W ways
// replaced first in, first out holds an item exactly if fewer than W fills of
// its set came after the item's own; so a look-up is one subtraction, and a hit
// changes nothing.
#pragma once

#include <bit>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace vringlab::sim {

// The number of an item's last fill; 0: never filled, or invalidated.
using FillNumber = std::uint32_t;

// Numbers the fills of each set. The caller keeps each item's number.
class FifoTags {
 public:
  FifoTags(std::uint32_t sets, std::uint32_t ways) : ways_(ways), mask_(sets - 1) {
    if (!std::has_single_bit(sets) || ways == 0)
      throw std::logic_error("tags: number of sets is not a power of two, or no ways");
    fills_.assign(sets, ways);  // so that number 0 is not held
  }

  bool holds(std::uint32_t item, FillNumber number) const {
    return fills_[item & mask_] - number < ways_;
  }
  FillNumber fill(std::uint32_t item) { return ++fills_[item & mask_]; }

 private:
  std::uint32_t ways_;
  std::uint32_t mask_;  // sets - 1; the set of an item is its lowest bits
  std::vector<FillNumber> fills_;
};

// Tags of a cache of `bytes` with 64-byte lines, rounded down to a power of two sets.
inline FifoTags line_tags(std::uint32_t bytes, std::uint32_t ways) {
  return {std::bit_floor(bytes / 64 / ways), ways};
}

}  // namespace vringlab::sim
