#include "sim/cost/random.h"

#include <gtest/gtest.h>

namespace vringlab::sim {
namespace {

// The first values of the published algorithm from seed 0.
TEST(RandomStream, is_splitmix64) {
  RandomStream random(0);
  EXPECT_EQ(random.next(), 0xe220a8397b1dcdafu);
  EXPECT_EQ(random.next(), 0x6e789e6aa1b965f4u);
  EXPECT_EQ(random.next(), 0x06c45d188009454fu);
}

TEST(RandomStream, unit_is_above_zero_and_at_most_one) {
  RandomStream random(1);
  double low = 2;
  double high = 0;
  double sum = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double u = random.unit();
    low = std::min(low, u);
    high = std::max(high, u);
    sum += u;
  }
  EXPECT_GT(low, 0);
  EXPECT_LT(low, 1e-3);
  EXPECT_LE(high, 1);
  EXPECT_GT(high, 1 - 1e-3);
  EXPECT_NEAR(sum / kDraws, 0.5, 0.005);
}

TEST(RandomStream, normal_has_mean_zero_and_variance_one) {
  RandomStream random(2);
  double sum = 0;
  double squares = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double z = random.normal();
    sum += z;
    squares += z * z;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.02);
  EXPECT_NEAR(squares / kDraws, 1, 0.03);
}

}  // namespace
}  // namespace vringlab::sim
