#include "sim/machine/arrivals.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/double/model_machine.h"

namespace vringlab::sim {
namespace {

// The core's clock at each of `count` arrivals.
std::vector<std::uint64_t> times(Arrivals arrivals, std::size_t count) {
  test::ModelMachine model({});
  std::vector<std::uint64_t> at;
  while (at.size() < count) {
    arrivals.wait_for(model.driver_core);
    at.push_back(model.driver_core.now());
  }
  EXPECT_EQ(model.driver_core.busy_ps(), 0u);
  return at;
}

TEST(Arrivals, without_a_gap_nothing_is_waited_for) {
  EXPECT_EQ(times(Arrivals(0, false, 1), 3), (std::vector<std::uint64_t>{0, 0, 0}));
  EXPECT_EQ(times(Arrivals(0, true, 1), 3), (std::vector<std::uint64_t>{0, 0, 0}));
}

TEST(Arrivals, periodic_ones_are_a_gap_apart) {
  EXPECT_EQ(times(Arrivals(1000, false, 1), 3), (std::vector<std::uint64_t>{1000, 2000, 3000}));
}

// An open loop: what is late does not put off what follows.
TEST(Arrivals, overdue_ones_do_not_wait) {
  test::ModelMachine model({});
  Arrivals arrivals(1000, false, 1);
  arrivals.wait_for(model.driver_core);
  model.driver_core.charge(Cost::kGuestPacket, Step::kGuestFill, 2500);
  for (const std::uint64_t now : {3500u, 3500u, 4000u}) {
    arrivals.wait_for(model.driver_core);
    EXPECT_EQ(model.driver_core.now(), now);
  }
  EXPECT_EQ(model.driver_core.idle_ps(), 1500u);
}

// Of an exponential distribution: mean and standard deviation equal, a third of
// the gaps longer than the mean.
TEST(Arrivals, poisson_gaps_are_exponential) {
  constexpr std::size_t kCount = 20000;
  constexpr double kGap = 1e6;
  const auto at = times(Arrivals(1000000, true, 5), kCount);
  double squares = 0;
  std::size_t longer = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    const double gap = static_cast<double>(at[i] - (i == 0 ? 0 : at[i - 1]));
    squares += (gap - kGap) * (gap - kGap);
    longer += gap > kGap ? 1u : 0u;
  }
  EXPECT_NEAR(static_cast<double>(at.back()) / kCount, kGap, 0.03 * kGap);
  EXPECT_NEAR(std::sqrt(squares / kCount), kGap, 0.05 * kGap);
  EXPECT_NEAR(static_cast<double>(longer) / kCount, 0.368, 0.015);
}

TEST(Arrivals, poisson_gaps_are_those_of_the_seed) {
  EXPECT_EQ(times(Arrivals(1000, true, 7), 50), times(Arrivals(1000, true, 7), 50));
  EXPECT_NE(times(Arrivals(1000, true, 7), 50), times(Arrivals(1000, true, 8), 50));
}

}  // namespace
}  // namespace vringlab::sim
