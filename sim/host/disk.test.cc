#include "sim/host/disk.h"

#include <gtest/gtest.h>

#include <utility>

namespace vringlab::sim {
namespace {

using Op = DiskRequest::Op;

constexpr std::uint64_t kUs = 1000000;

struct DiskTest : testing::Test {
  DiskCosts costs{.read = {10 * kUs, 100 * kUs, 1000},  // 1 ns a byte
                  .write = {20 * kUs, 50 * kUs, 1000},
                  .seek_ps = 0,
                  .turn_ps = 0,
                  .flush_ps = 500 * kUs};

  // Completions as {slot, microseconds}, in order.
  static std::vector<std::pair<int, std::uint64_t>> drain(Disk& disk) {
    std::vector<std::pair<int, std::uint64_t>> done;
    while (disk.runnable()) {
      const std::uint64_t at_us = disk.core().now() / kUs;
      disk.step();
      while (disk.completed()) done.emplace_back(disk.take().slot, at_us);
    }
    return done;
  }
  static void submit(Disk& disk, std::uint64_t at_us, Op op, std::uint64_t offset,
                     std::uint64_t bytes, std::uint16_t slot) {
    disk.submit(at_us * kUs, {op, offset, bytes, {DiskClient::Kind::kRequest, 0, slot}});
  }
};

using Done = std::vector<std::pair<int, std::uint64_t>>;

TEST_F(DiskTest, one_request_takes_its_turn_and_its_latency) {
  Disk disk(costs, {});
  submit(disk, 5, Op::kRead, 0, 4096, 1);
  EXPECT_EQ(drain(disk), (Done{{1, 115}}));
}

TEST_F(DiskTest, bytes_count_where_they_take_longer_than_the_request) {
  Disk disk(costs, {});
  submit(disk, 0, Op::kRead, 0, 100000, 1);
  EXPECT_EQ(drain(disk), (Done{{1, 200}}));
}

TEST_F(DiskTest, latencies_overlap_and_turns_do_not) {
  Disk disk(costs, {});
  for (std::uint16_t i = 0; i < 3; ++i) submit(disk, 0, Op::kRead, i * 1000000u, 512, i);
  EXPECT_EQ(drain(disk), (Done{{0, 110}, {1, 120}, {2, 130}}));
}

TEST_F(DiskTest, no_more_than_depth_at_once) {
  Disk disk(costs, {.depth = 1});
  for (std::uint16_t i = 0; i < 2; ++i) submit(disk, 0, Op::kRead, i * 1000000u, 512, i);
  EXPECT_EQ(drain(disk), (Done{{0, 110}, {1, 220}}));
}

TEST_F(DiskTest, a_short_write_overtakes_a_long_read) {
  Disk disk(costs, {});
  submit(disk, 0, Op::kRead, 0, 512, 1);
  submit(disk, 0, Op::kWrite, 4096, 512, 2);
  EXPECT_EQ(drain(disk), (Done{{2, 80}, {1, 110}}));
}

TEST_F(DiskTest, what_waits_is_merged_with_what_goes_on_behind_it) {
  Disk disk(costs, {.depth = 1, .max_bytes = 8192});
  submit(disk, 0, Op::kWrite, 0, 4096, 0);
  for (std::uint16_t i = 1; i < 4; ++i) submit(disk, 0, Op::kWrite, i * 4096u, 4096, i);
  EXPECT_EQ(drain(disk), (Done{{0, 70}, {1, 140}, {2, 140}, {3, 210}}));
  EXPECT_EQ(disk.counters().merged, 1u);
  EXPECT_EQ(disk.counters().requests, 3u);
  EXPECT_EQ(disk.counters().write_bytes, 4u * 4096);
}

TEST_F(DiskTest, reads_writes_and_gaps_are_not_merged) {
  Disk disk(costs, {.depth = 1});
  submit(disk, 0, Op::kRead, 0, 4096, 0);
  submit(disk, 0, Op::kRead, 8192, 4096, 1);
  submit(disk, 0, Op::kWrite, 12288, 4096, 2);
  submit(disk, 0, Op::kRead, 16384, 4096, 3);
  drain(disk);
  EXPECT_EQ(disk.counters().merged, 0u);
}

TEST_F(DiskTest, a_write_that_comes_late_waits_a_turn) {
  costs.turn_ps = 6000 * kUs;
  Disk disk(costs, {});
  submit(disk, 0, Op::kWrite, 0, 20000, 1);      // the disk was at 0 and ready
  submit(disk, 0, Op::kWrite, 20000, 20000, 2);  // follows at once
  EXPECT_EQ(drain(disk), (Done{{1, 70}, {2, 90}}));
  submit(disk, 90, Op::kWrite, 40000, 20000, 3);
  EXPECT_EQ(drain(disk), (Done{{3, 6160}}));
}

TEST_F(DiskTest, a_read_in_sequence_never_waits_a_turn_and_a_far_one_seeks) {
  costs.turn_ps = 6000 * kUs;
  costs.seek_ps = 4000 * kUs;
  Disk disk(costs, {});
  submit(disk, 1000, Op::kRead, 0, 512, 1);
  EXPECT_EQ(drain(disk), (Done{{1, 1110}}));
  submit(disk, 2000, Op::kRead, 1u << 30, 512, 2);
  EXPECT_EQ(drain(disk), (Done{{2, 9110}}));
}

TEST_F(DiskTest, a_flush_comes_after_what_was_there) {
  Disk disk(costs, {});
  submit(disk, 0, Op::kWrite, 0, 512, 1);
  submit(disk, 0, Op::kFlush, 0, 0, 2);
  EXPECT_EQ(drain(disk), (Done{{1, 70}, {2, 520}}));
}

TEST_F(DiskTest, nothing_is_done_before_it_was_asked_for) {
  Disk disk(costs, {.depth = 1});
  submit(disk, 0, Op::kRead, 0, 512, 1);
  submit(disk, 1000, Op::kRead, 1u << 20, 512, 2);
  EXPECT_EQ(drain(disk), (Done{{1, 110}, {2, 1110}}));
}

}  // namespace
}  // namespace vringlab::sim
