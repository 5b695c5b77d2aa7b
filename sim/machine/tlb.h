// Data TLB of one core: first level and shared second level, by page number.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/machine/fifo_tags.h"

namespace vringlab::sim {

class Tlb {
 public:
  // 64 and 1536 entries: Intel since Broadwell. Both taken as fully associative.
  explicit Tlb(std::uint32_t pages) : entries_(pages) {}

  bool l1_holds(std::uint32_t page) const { return l1_.holds(page, entries_[page].l1); }

  // Brings the page into the first level; was it in the second?
  bool fill(std::uint32_t page) {
    Entry& entry = entries_[page];
    const bool in_l2 = l2_.holds(page, entry.l2);
    entry.l1 = l1_.fill(page);
    if (!in_l2) entry.l2 = l2_.fill(page);
    return in_l2;
  }

 private:
  struct Entry {
    FillNumber l1 = 0;
    FillNumber l2 = 0;
  };
  std::vector<Entry> entries_;  // by page number
  FifoTags<64> l1_{1};
  FifoTags<1536> l2_{1};
};

}  // namespace vringlab::sim
