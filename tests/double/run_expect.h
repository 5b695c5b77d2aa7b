// What tests of whole runs ask of a result.
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>

#include "sim/run/run.h"

namespace vringlab::test {

using namespace sim;

inline AccessPlan map_all(Guard guard = Guard::kNone) {
  return {.map_desc = true, .map_avail = true, .map_used = true, .guard = guard};
}

inline const CoreResult& core(const RunResult& r, std::string_view wanted) {
  for (const CoreResult& c : r.cores) {
    if (c.name == wanted) return c;
  }
  throw std::logic_error("no such core");
}

inline std::uint64_t count(const CoreResult& core, Cost cost) {
  std::uint64_t sum = 0;
  for (const LedgerRow& row : core.ledger) sum += row.cost == cost ? row.count : 0;
  return sum;
}
inline std::uint64_t count(const CoreResult& core, Cost cost, Step step) {
  for (const LedgerRow& row : core.ledger) {
    if (row.cost == cost && row.step == step) return row.count;
  }
  return 0;
}

inline void expect_exact_ledgers(const RunResult& r) {
  ASSERT_EQ(r.cores.size(), 3u);
  for (const CoreResult& c : r.cores) {
    std::uint64_t sum = 0;
    for (const LedgerRow& row : c.ledger) sum += row.ps;
    EXPECT_EQ(sum, c.busy_ps) << c.name;
  }
}

// What holds for every run of a guest that means well.
inline RunResult expect_whole(const Scenario& s) {
  const RunResult r = run(s);
  EXPECT_EQ(r.packets, s.packets);
  EXPECT_EQ(r.bytes, s.packets * s.packet_bytes);
  EXPECT_EQ(r.refused, 0u);
  EXPECT_EQ(r.dropped, 0u);
  expect_exact_ledgers(r);
  for (const char* name : {"guest", "worker"}) {
    const CoreResult& c = core(r, name);
    EXPECT_LE(c.busy_ps + c.idle_ps, r.elapsed_ps) << name;
  }
  EXPECT_EQ(r.rate_pps, static_cast<double>(r.packets) * 1e12 / static_cast<double>(r.elapsed_ps));
  EXPECT_GE(r.batches * s.batch, r.packets);
  EXPECT_LE(r.batches, r.packets);
  EXPECT_LE(r.latency.p50_ps, r.latency.p90_ps);
  EXPECT_LE(r.latency.p90_ps, r.latency.p99_ps);
  EXPECT_LE(r.latency.p99_ps, r.latency.max_ps);
  EXPECT_LE(r.latency.mean_ps, r.latency.max_ps);
  return r;
}

}  // namespace vringlab::test
