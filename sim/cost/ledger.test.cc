#include "sim/cost/ledger.h"

#include <gtest/gtest.h>

namespace vringlab::sim {
namespace {

TEST(Ledger, a_cell_is_one_cost_in_one_step) {
  Ledger ledger;
  ledger.add(Cost::kL3Hit, Step::kSend, 100);
  ledger.add(Cost::kL3Hit, Step::kSend, 50, 3);
  ledger.add(Cost::kL3Hit, Step::kUsed, 7);
  ledger.add(Cost::kDram, Step::kSend, 9);
  EXPECT_EQ(ledger.at(Cost::kL3Hit, Step::kSend).ps, 150u);
  EXPECT_EQ(ledger.at(Cost::kL3Hit, Step::kSend).count, 4u);
  EXPECT_EQ(ledger.at(Cost::kL3Hit, Step::kUsed).ps, 7u);
  EXPECT_EQ(ledger.at(Cost::kDram, Step::kUsed).count, 0u);
}

TEST(Ledger, total_counts_every_cell_once) {
  Ledger ledger;
  std::uint64_t sum = 0;
  for (std::size_t step = 0; step < kSteps; ++step) {
    for (std::size_t cost = 0; cost < kCosts; ++cost) {
      const std::uint64_t ps = 1 + step * kCosts + cost;
      ledger.add(static_cast<Cost>(cost), static_cast<Step>(step), ps);
      sum += ps;
    }
  }
  EXPECT_EQ(ledger.total_ps(), sum);
}

}  // namespace
}  // namespace vringlab::sim
