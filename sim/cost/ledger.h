// Where each picosecond of a core's busy time went: cost x step, exactly.
#pragma once

#include <array>

#include "sim/cost/names.h"

namespace vringlab::sim {

struct LedgerCell {
  std::uint64_t ps = 0;     // picoseconds spent
  std::uint64_t count = 0;  // occurrences
};

class Ledger {
 public:
  void add(Cost cost, Step step, std::uint64_t ps, std::uint64_t count = 1) {
    LedgerCell& cell = cells_[index(step)][index(cost)];
    cell.ps += ps;
    cell.count += count;
  }
  void add(const Ledger& other) {
    for (std::size_t step = 0; step < kSteps; ++step) {
      for (std::size_t cost = 0; cost < kCosts; ++cost) {
        cells_[step][cost].ps += other.cells_[step][cost].ps;
        cells_[step][cost].count += other.cells_[step][cost].count;
      }
    }
  }
  const LedgerCell& at(Cost cost, Step step) const { return cells_[index(step)][index(cost)]; }

  std::uint64_t total_ps() const {
    std::uint64_t sum = 0;
    for (const auto& row : cells_) {
      for (const LedgerCell& cell : row) sum += cell.ps;
    }
    return sum;
  }

 private:
  std::array<std::array<LedgerCell, kCosts>, kSteps> cells_{};
};

}  // namespace vringlab::sim
