#include "sim/guest/blk_jobs.h"

#include <gtest/gtest.h>

#include <vector>

namespace vringlab::sim {
namespace {

std::vector<BlkIoPlan> all(const BlkJobConfig& config) {
  std::vector<BlkIoPlan> plans;
  for (BlkJob job(config); !job.exhausted();) plans.push_back(job.next());
  return plans;
}
std::size_t count(const std::vector<BlkIoPlan>& plans, BlkOp op) {
  std::size_t sum = 0;
  for (const BlkIoPlan& plan : plans) sum += plan.op == op ? 1 : 0;
  return sum;
}

TEST(BlkJob, in_order_it_goes_through_its_part_of_the_disk_and_begins_again) {
  const auto plans = all({.ios = 5, .block_bytes = 4096, .first_byte = 8192, .blocks = 3});
  ASSERT_EQ(plans.size(), 5u);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    EXPECT_EQ(plans[i].op, BlkOp::kRead);
    EXPECT_EQ(plans[i].offset, 8192 + i % 3 * 4096);
    EXPECT_EQ(plans[i].bytes, 4096u);
  }
}

TEST(BlkJob, at_random_it_stays_inside_and_meets_every_block) {
  const auto plans = all({.ios = 2000,
                          .block_bytes = 512,
                          .first_byte = 1024,
                          .blocks = 20,
                          .random = true,
                          .seed = 3});
  std::vector<int> met(20);
  for (const BlkIoPlan& plan : plans) ++met.at((plan.offset - 1024) / 512);
  for (const int times : met) EXPECT_GT(times, 50);
}

TEST(BlkJob, a_seed_says_where) {
  BlkJobConfig config{.ios = 8, .block_bytes = 512, .blocks = 1u << 30, .random = true};
  const auto first = all(config);
  EXPECT_EQ(all(config)[7].offset, first[7].offset);
  config.seed = 1;
  EXPECT_NE(all(config)[7].offset, first[7].offset);
}

TEST(BlkJob, shares) {
  BlkJobConfig config{.ios = 4000, .block_bytes = 512};
  for (const auto& [share, least, most] :
       {std::tuple{0.0, 0u, 0u}, {1.0, 4000u, 4000u}, {0.25, 880u, 1120u}, {0.75, 2880u, 3120u}}) {
    config.read_share = share;
    const std::size_t reads = count(all(config), BlkOp::kRead);
    EXPECT_GE(reads, least) << share;
    EXPECT_LE(reads, most) << share;
  }
}

TEST(BlkJob, flushes_after_so_many_writes_and_reads_do_not_count) {
  for (const std::uint64_t every : {1u, 2u, 3u, 7u}) {
    const auto plans =
        all({.ios = 100, .block_bytes = 512, .read_share = 0.5, .flush_every = every, .seed = 9});
    EXPECT_EQ(plans.size() - count(plans, BlkOp::kFlush), 100u);
    std::uint64_t writes = 0;
    for (const BlkIoPlan& plan : plans) {
      if (plan.op == BlkOp::kWrite) ++writes;
      if (plan.op != BlkOp::kFlush) continue;
      EXPECT_EQ(writes, every);
      EXPECT_EQ(plan.bytes, 0u);
      writes = 0;
    }
    EXPECT_LT(writes, every);  // also the last write's
  }
}

TEST(BlkJob, reads_again_what_it_wrote_where_it_wrote_it) {
  for (const bool random : {false, true}) {
    const auto plans = all({.ios = 9,
                            .block_bytes = 512,
                            .blocks = 100,
                            .random = random,
                            .reread_from = 4,
                            .seed = 5});
    for (std::size_t i = 0; i < plans.size(); ++i) {
      EXPECT_EQ(plans[i].op, i < 4 ? BlkOp::kWrite : BlkOp::kRead);
      EXPECT_EQ(plans[i].offset, plans[i % 4].offset) << random << ' ' << i;
    }
  }
}

TEST(BlkJob, nothing_to_do) { EXPECT_TRUE(BlkJob({}).exhausted()); }

}  // namespace
}  // namespace vringlab::sim
