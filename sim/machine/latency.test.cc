#include "sim/machine/latency.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/cost/random.h"

namespace vringlab::sim {
namespace {

// Values of all magnitudes up to 2^63.
std::vector<std::uint64_t> spread_values(std::size_t count, std::uint64_t seed) {
  RandomStream random(seed);
  std::vector<std::uint64_t> values;
  while (values.size() < count) values.push_back(random.next() >> (1 + random.next() % 63));
  return values;
}

TEST(Histogram, quantiles_are_within_a_thirty_second_below_those_of_the_sorted_data) {
  for (const std::size_t count : {1u, 2u, 3u, 100u, 5000u}) {
    std::vector<std::uint64_t> values = spread_values(count, count);
    Histogram histogram;
    for (const std::uint64_t v : values) histogram.add(v);
    std::ranges::sort(values);
    for (const std::uint64_t ppm : {1u, 250000u, 500000u, 900000u, 990000u, 999999u, 1000000u}) {
      const std::uint64_t rank = (count * ppm + 999999) / 1000000;
      const std::uint64_t exact = values[rank - 1];
      const std::uint64_t quantile = histogram.quantile_ppm(ppm);
      EXPECT_LE(quantile, exact) << count << ' ' << ppm;
      EXPECT_LE(exact - quantile, exact / 32) << count << ' ' << ppm;
    }
  }
}

TEST(Histogram, small_values_are_exact) {
  for (std::uint64_t v = 0; v < 64; ++v) {
    Histogram histogram;
    histogram.add(v);
    EXPECT_EQ(histogram.quantile_ppm(500000), v);
  }
  Histogram histogram;
  histogram.add(65);
  EXPECT_EQ(histogram.quantile_ppm(500000), 64u);  // buckets are two wide from here
}

TEST(Histogram, takes_every_64_bit_value) {
  Histogram histogram;
  histogram.add(UINT64_MAX);
  EXPECT_EQ(histogram.max(), UINT64_MAX);
  EXPECT_EQ(histogram.quantile_ppm(1000000), 63ull << 58);
}

TEST(Histogram, sums_and_counts) {
  Histogram histogram;
  EXPECT_EQ(histogram.quantile_ppm(500000), 0u);
  for (const std::uint64_t v : {7u, 1000u, 3u}) histogram.add(v);
  EXPECT_EQ(histogram.total(), 3u);
  EXPECT_EQ(histogram.sum(), 1010u);
  EXPECT_EQ(histogram.max(), 1000u);
}

TEST(LatencyLog, finishes_in_the_order_of_the_starts) {
  LatencyLog log(4);
  log.start(100);
  log.start(200);
  log.finish(150);
  log.start(300);
  log.start(400);
  log.start(500);
  for (const std::uint64_t at : {210u, 320u, 430u, 540u}) log.finish(at);
  EXPECT_EQ(log.histogram().total(), 5u);
  EXPECT_EQ(log.histogram().sum(), 50u + 10 + 20 + 30 + 40);
  EXPECT_EQ(log.histogram().max(), 50u);
}

// The two cores' clocks need not agree to the picosecond.
TEST(LatencyLog, a_finish_before_the_start_counts_as_zero) {
  LatencyLog log(1);
  log.start(100);
  log.finish(99);
  EXPECT_EQ(log.histogram().max(), 0u);
  EXPECT_EQ(log.histogram().total(), 1u);
}

}  // namespace
}  // namespace vringlab::sim
