#include "sim/cost/rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace vringlab::sim {
namespace {

TEST(CostRows, low_best_high_are_ordered_and_finite) {
  for (const CostRow& row : cost_rows()) {
    EXPECT_GT(row.low, 0) << row.name;
    EXPECT_LE(row.low, row.best) << row.name;
    EXPECT_LE(row.best, row.high) << row.name;
    EXPECT_TRUE(std::isfinite(row.high)) << row.name;
  }
}

TEST(CostRows, names_are_unique_and_found) {
  std::set<std::string_view> names;
  for (const CostRow& row : cost_rows()) {
    EXPECT_FALSE(row.name.empty());
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(find_cost_row(row.name), &row) << row.name;
  }
  EXPECT_EQ(find_cost_row("no_such_row"), nullptr);
  EXPECT_EQ(find_cost_row(""), nullptr);
}

// A row says where its figure is from: the kind of evidence, and where that is
// nothing that could be looked up, what is meant.
TEST(CostRows, each_has_evidence) {
  for (const CostRow& row : cost_rows()) {
    EXPECT_FALSE(row.evidence.empty()) << row.name;
    if (row.evidence == "stated judgement") {
      EXPECT_FALSE(row.source.empty()) << row.name;
    }
  }
}

TEST(CostRows, fractions_are_at_most_one) {
  for (const CostRow& row : cost_rows()) {
    if (row.unit == Unit::kFraction) {
      EXPECT_LE(row.high, 1) << row.name;
    }
  }
}

TEST(CostRows, only_times_of_instructions_scale_with_the_clock) {
  for (const CostRow& row : cost_rows()) {
    EXPECT_GE(row.at_ghz, 0) << row.name;
    if (row.at_ghz > 0) {
      EXPECT_EQ(row.unit, Unit::kNanoseconds) << row.name;
    }
  }
}

}  // namespace
}  // namespace vringlab::sim
