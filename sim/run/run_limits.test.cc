// Runs at the edges: of sizes and of costs.
#include <gtest/gtest.h>

#include <map>

#include "tests/double/run_expect.h"
#include "tests/double/run_text.h"

namespace vringlab::sim {
namespace {

using test::core;
using test::count;
using test::expect_whole;
using test::map_all;
using test::text_of;

constexpr std::uint64_t kFewPackets = 1000;

// --- Sizes ---

TEST(Sizes, every_ring_with_every_batch_ends) {
  for (std::uint32_t ring_size = 2; ring_size <= 4096; ring_size *= 2) {
    for (std::uint32_t batch = 1; batch <= 1024; batch *= 4) {
      for (const bool split_header : {false, true}) {
        SCOPED_TRACE(testing::Message() << ring_size << ' ' << batch << ' ' << split_header);
        expect_whole(
            {.packets = 300, .split_header = split_header, .ring_size = ring_size, .batch = batch});
      }
    }
  }
}

TEST(Sizes, the_largest_ring_ends) {
  expect_whole({.packets = 70000, .ring_size = 32768, .batch = 1024});
}

TEST(Sizes, batches_above_the_ring_end) {
  for (const char* notify : {"poll", "interrupt"}) {
    for (const std::uint32_t ring_size : {2u, 16u}) {
      for (const std::uint32_t copy_batch : {1u, 64u})
        expect_whole({.guest_notify = notify,
                      .packets = kFewPackets,
                      .guest_burst = 32,
                      .ring_size = ring_size,
                      .batch = 64,
                      .copy_batch = copy_batch});
    }
  }
}

TEST(Sizes, one_packet_is_a_run) {
  for (const char* notify : {"poll", "interrupt"})
    EXPECT_EQ(expect_whole({.guest_notify = notify, .packets = 1}).batches, 1u);
}

// --- Costs ---

TEST(Costs, polls_for_nothing_do_not_stop_the_clock) {
  const std::vector<CostOverride> free_polls = {
      {"pmd_empty_poll", 0}, {"busy_poll_turn", 0}, {"plain_access", 0}, {"tun_send_call", 100}};
  for (const bool skip_polls : {false, true})
    expect_whole({.costs = free_polls,
                  .packets = 200,
                  .offered_pps = 1e7,
                  .ring_size = 16,
                  .plan = map_all(),
                  .busy_poll_us = 0.01,
                  .skip_polls = skip_polls});
}

// A row set higher makes the run slower, by what the ledger says.
TEST(Costs, show_in_the_rate_and_in_the_ledger) {
  Scenario s{.packets = kFewPackets};
  const RunResult base = run(s);
  s.costs = {{"tun_xdp_frame", 400}};
  const RunResult dear = run(s);
  EXPECT_LT(dear.rate_pps, base.rate_pps);
  EXPECT_EQ(count(core(dear, "worker"), Cost::kXdpFrame), kFewPackets);
  for (const LedgerRow& row : core(dear, "worker").ledger) {
    if (row.cost == Cost::kXdpFrame) {
      EXPECT_EQ(row.ps, kFewPackets * 153846);  // 400 cycles at 2.6 GHz
    }
  }
}

TEST(Costs, distance_and_kernel_make_it_slower) {
  Scenario s{.packets = kFewPackets};
  s.distance = "same_ccx";
  const double near = run(s).rate_pps;
  s.distance = "remote";
  EXPECT_LT(run(s).rate_pps, near);
  s.distance = "same_socket";
  s.kernel = "v5.0";
  const double barrier_in_get_user = run(s).rate_pps;
  s.kernel = "v6.2";
  EXPECT_LT(run(s).rate_pps, barrier_in_get_user);
  s.kernel = "bare";
  EXPECT_GT(run(s).rate_pps, barrier_in_get_user);
}

}  // namespace
}  // namespace vringlab::sim
