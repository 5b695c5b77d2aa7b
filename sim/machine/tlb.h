// Data TLB of one core: first level and shared second level, by page number.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/machine/fifo_states.h"
#include "sim/machine/fifo_tags.h"

namespace vringlab::sim {

class Tlb {
 public:
  // 64 and 1536 entries: Intel since Broadwell. Both taken as fully associative.
  explicit Tlb(std::uint32_t pages) : l1_(pages, 1), l2_numbers_(pages) {}

  bool l1_holds(std::uint32_t page) const { return l1_.reads(page); }

  // Brings a page that is not there into the first level; was it in the second?
  bool fill(std::uint32_t page) {
    FillNumber& number = l2_numbers_[page];
    const bool in_l2 = l2_.holds(page, number);
    l1_.fill(page, false);
    if (!in_l2) number = l2_.fill(page);
    return in_l2;
  }

 private:
  FifoStates<64> l1_;
  FifoTags<1536> l2_{1};
  std::vector<FillNumber> l2_numbers_;  // by page number
};

}  // namespace vringlab::sim
