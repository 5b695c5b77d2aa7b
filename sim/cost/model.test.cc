#include "sim/cost/model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "sim/cost/rows.h"

namespace vringlab::sim {
namespace {

using Overrides = std::vector<CostOverride>;

CostModel resolved(const Overrides& overrides = {}, const char* kernel = "v5.0",
                   const char* host = "broadwell-2.6") {
  return resolve_costs(find_host(host), find_kernel(kernel), overrides);
}

TEST(ResolveCosts, cycles_by_the_clock) {
  const CostModel at_2 = resolved({{"clock_ghz", 2}, {"smp_mb", 20}});
  EXPECT_EQ(at_2.clock_ghz, 2);
  EXPECT_EQ(at_2[Cost::kFullBarrier], 10000u);
  EXPECT_EQ(resolved({{"clock_ghz", 4}, {"smp_mb", 20}})[Cost::kFullBarrier], 5000u);
  EXPECT_EQ(resolved()[Cost::kFullBarrier], 7692u);  // 20 cycles at 2.6 GHz
}

TEST(ResolveCosts, nanoseconds_and_microseconds_at_any_clock) {
  for (const double ghz : {1.0, 2.6, 5.0}) {
    const CostModel m = resolved({{"clock_ghz", ghz}, {"page_frag_alloc", 6.25}});
    EXPECT_EQ(m[Cost::kPageFrag], 6250u) << ghz;
    EXPECT_EQ(m[Cost::kContextSwitch], 1100000u) << ghz;  // 1.1 us
    EXPECT_EQ(m.wakeup_ps, 2000000u) << ghz;
    EXPECT_EQ(m.irq_latency_ps, 2200000u) << ghz;
  }
}

TEST(ResolveCosts, a_wake_up_ends_with_the_switch_to_the_thread) {
  const auto until_switch_ps = [](double wakeup_us) {
    return resolved({{"wakeup.cpu_awake", wakeup_us}, {"context_switch.thread", 1.25}})
        .until_switch_ps;
  };
  EXPECT_EQ(until_switch_ps(3), 1750000u);
  EXPECT_EQ(until_switch_ps(1), 0u);  // the switch takes what it takes
}

// xdp_program_noop is a time of instructions, measured at 3.6 GHz.
TEST(ResolveCosts, a_time_measured_at_a_clock_scales_from_it) {
  ASSERT_EQ(find_cost_row("xdp_program_noop")->at_ghz, 3.6);
  const auto at = [](double ghz) {
    return resolved({{"clock_ghz", ghz}, {"xdp_program_noop", 10}})[Cost::kXdpProgram];
  };
  EXPECT_EQ(at(3.6), 10000u);
  EXPECT_EQ(at(1.8), 20000u);
  EXPECT_EQ(at(7.2), 5000u);
}

TEST(ResolveCosts, cycles_per_byte_by_the_clock_and_not_rounded) {
  EXPECT_DOUBLE_EQ(resolved({{"clock_ghz", 2}, {"copy_per_byte.l1", 0.018}}).copy_ps_per_byte, 9);
}

TEST(ResolveCosts, fractions_as_they_are) {
  const CostModel m = resolved({{"ooo_overlap", 0.25}, {"store_exposed", 1}});
  EXPECT_EQ(m.ooo_overlap, 0.25);
  EXPECT_EQ(m.store_exposed, 1);
}

TEST(ResolveCosts, without_overrides_the_best_of_the_row) {
  const CostModel m = resolved();
  EXPECT_EQ(m.ooo_overlap, find_cost_row("ooo_overlap")->best);
  EXPECT_EQ(m[Cost::kDram], 85000u);
  EXPECT_EQ(m.clock_ghz, 2.6);
}

TEST(ResolveCosts, the_last_override_wins) {
  EXPECT_EQ(
      resolved(
          {{"load.dram", 70}, {"load.dram", 80}, {"load.l3", 1}, {"load.dram", 90}})[Cost::kDram],
      90000u);
  EXPECT_EQ(resolved({{"clock_ghz", 1}, {"clock_ghz", 2}}).clock_ghz, 2);
}

// Every cost of the ledger that isn't a part of another one is resolved from a row.
TEST(ResolveCosts, no_cost_is_forgotten) {
  const CostModel m = resolved({}, "v5.0-hardened");
  for (std::size_t i = 0; i < kCosts; ++i) {
    const auto cost = static_cast<Cost>(i);
    const bool computed = cost == Cost::kBarrierDrain || cost == Cost::kCopyBytes ||
                          cost == Cost::kStoreMiss || cost == Cost::kTlb ||
                          cost == Cost::kTcpWriteBytes || cost == Cost::kTcpReadBytes;
    EXPECT_EQ(m[cost] > 0, !computed) << name(cost);
  }
  EXPECT_GT(m.stlb_hit_ps, 0u);
  EXPECT_GT(m.page_walk_ps, m.stlb_hit_ps);
}

TEST(ResolveCosts, kernel_switches) {
  const CostModel with = resolved();
  EXPECT_EQ(with[Cost::kStacClac], 11538u);  // 30 cycles at 2.6 GHz
  EXPECT_EQ(resolved({}, "v5.0-nosmap")[Cost::kStacClac], 0u);
  EXPECT_EQ(resolved({{"stac_clac_pair.intel", 60}}, "v5.0-nosmap")[Cost::kStacClac], 0u);
  EXPECT_EQ(with[Cost::kHardenedUsercopy], 0u);
  EXPECT_EQ(resolved({}, "v5.0-hardened")[Cost::kHardenedUsercopy], 9615u);
  const Overrides rows = {{"clock_ghz", 1},
                          {"syscall.kpti_pcid", 500},
                          {"syscall.no_kpti", 100},
                          {"indirect_call", 5},
                          {"indirect_call_retpoline", 30}};
  EXPECT_EQ(resolved(rows)[Cost::kSyscall], 500000u);
  EXPECT_EQ(resolved(rows, "bare")[Cost::kSyscall], 100000u);
  EXPECT_EQ(resolved(rows)[Cost::kIndirectCall], 30000u);
  EXPECT_EQ(resolved(rows, "bare")[Cost::kIndirectCall], 5000u);
}

TEST(ResolveCosts, the_host_chooses_its_variants) {
  const Overrides rows = {{"clock_ghz", 1},
                          {"stac_clac_pair.zen2", 80},
                          {"lfence_floor.zen", 11},
                          {"rep_movs_startup.fsrm", 10},
                          {"line_transfer.cross_ccx", 99}};
  const CostModel zen = resolved(rows, "v5.0", "zen2-3.3");
  EXPECT_EQ(zen[Cost::kStacClac], 80000u);
  EXPECT_EQ(zen[Cost::kLfenceFloor], 11000u);
  EXPECT_EQ(zen[Cost::kTransferSocket], 99000u);
  EXPECT_EQ(resolved(rows, "v5.0", "icelake-2.9")[Cost::kCopyStartup], 10000u);
  EXPECT_EQ(resolved(rows)[Cost::kCopyStartup], 35000u);
}

TEST(ResolveCosts, a_poll_takes_time_whatever_its_row_says) {
  const CostModel m = resolved({{"pmd_empty_poll", 0}, {"busy_poll_turn", 0}, {"pmd_tx_burst", 0}});
  EXPECT_EQ(m[Cost::kGuestPoll], 1u);
  EXPECT_EQ(m[Cost::kBusyPollTurn], 1u);
  EXPECT_EQ(m[Cost::kGuestBurst], 0u);
}

// What resolve_costs says of one override; empty if it takes it.
std::string refusal(const char* row, double value) {
  try {
    resolved({{row, value}});
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

struct Pair {
  const char* row;
  double good;
  double bad;
};

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(ResolveCosts, refuses_what_is_out_of_range) {
  const Pair rows[] = {
      {"load.dram", 0, -1e-9},     {"load.dram", 1e12, kInf},
      {"load.dram", 1, kNan},      {"load.dram", 1e12, 1.01e12},  // 1000 s
      {"ooo_overlap", 0, -0.01},   {"ooo_overlap", 1, 1.001},
      {"store_exposed", 1, kNan},  {"clock_ghz", 0.1, 0.099},
      {"clock_ghz", 10, 10.01},    {"clock_ghz", 1, kNan},
      {"clock_ghz", 1, -1},        {"clock_ghz", 1, kInf},
      {"copy_per_byte.l1", 0, -1}, {"copy_per_byte.l1", 2.59e6, 2.61e6},  // 1 ms at 2.6 GHz
  };
  for (const Pair& row : rows) {
    EXPECT_EQ(refusal(row.row, row.good), "") << row.row << ' ' << row.good;
    const std::string text = refusal(row.row, row.bad);
    EXPECT_NE(text.find(row.row), std::string::npos) << row.row << ' ' << row.bad << ": " << text;
  }
}

TEST(ResolveCosts, a_refusal_names_row_value_and_range) {
  EXPECT_EQ(refusal("load.dram", -2), "costs[\"load.dram\"] = -2: must be finite and not negative");
  EXPECT_NE(refusal("load.dram", -1e-9).find("= -1e-09:"), std::string::npos);
  EXPECT_EQ(refusal("ooo_overlap", 2), "costs[\"ooo_overlap\"] = 2: must be between 0 and 1");
  EXPECT_EQ(refusal("clock_ghz", 11), "costs[\"clock_ghz\"] = 11: must be between 0.1 and 10 GHz");
  EXPECT_EQ(refusal("load_dram", 1), "costs[\"load_dram\"] = 1: there is no such cost row");
  EXPECT_EQ(refusal("", 1), "costs[\"\"] = 1: there is no such cost row");
}

// An override that a later one replaces is held to the same rules.
TEST(ResolveCosts, checks_every_override) {
  EXPECT_THROW(resolved({{"load.dram", -1}, {"load.dram", 80}}), std::invalid_argument);
  EXPECT_THROW(resolved({{"no_such_row", 1}, {"load.dram", 80}}), std::invalid_argument);
}

}  // namespace
}  // namespace vringlab::sim
