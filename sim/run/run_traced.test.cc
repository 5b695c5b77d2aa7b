// A recorded run: what the slices say is what the results say, and recording changes nothing.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "sim/run/run.h"
#include "tests/double/run_text.h"

namespace vringlab::sim {
namespace {

Scenario shape(const std::string& workload) {
  Scenario s;
  s.workload = workload;
  s.packets = 300;
  s.event_idx = true;
  s.guest_notify = "interrupt";
  s.offered_pps = 300000;
  return s;
}

std::vector<Scenario> shapes() {
  std::vector<Scenario> all{shape("tx"), shape("rx")};
  Scenario saturated;
  saturated.packets = 1000;
  all.push_back(saturated);
  Scenario lent = shape("tx");
  lent.sink = "macvtap";
  lent.zerocopy = true;
  lent.packet_bytes = 1518;
  lent.nic_pps = 1e6;
  all.push_back(lent);
  Scenario inline_served = shape("tx");
  inline_served.inline_packets = 4;
  all.push_back(inline_served);
  Scenario pairs = shape("macswap");
  pairs.queue_pairs = pairs.workers = 2;
  pairs.worker_cores = 1;
  all.push_back(pairs);
  Scenario stream;
  stream.workload = "stream";
  stream.guest = "vm";
  stream.sink = "host_tcp";
  stream.sessions = 3;
  stream.stream_ms = 0.5;
  all.push_back(stream);
  for (const char* guest : {"vm-udp", "vm-xsk"}) {
    for (const char* workload : {"tx", "rx"}) {
      Scenario socket = shape(workload);
      socket.guest = guest;
      all.push_back(socket);
    }
  }
  for (const char* form : {"vhost-bio", "vhost-2010", "vmm", "host"}) {
    Scenario blk;
    blk.workload = "blk";
    blk.packets = 200;
    blk.blk.form = form;
    blk.blk.cache = form == std::string("vhost-2010") ? "writeback" : "none";
    all.push_back(blk);
  }
  return all;
}

// "guest 1" is one of those that the results sum up as "guest".
std::string kind_of(const std::string& core) { return core.substr(0, core.find(' ')); }

class RunTraced : public testing::TestWithParam<Scenario> {};

TEST_P(RunTraced, ResultIsThatOfARunWithoutARecorder) {
  EXPECT_EQ(test::text_of(run_traced(GetParam()).result), test::text_of(run(GetParam())));
}

TEST_P(RunTraced, SlicesOfACoreAddUpToItsBusyTimeAndPartsToSlices) {
  const TracedRun traced = run_traced(GetParam());
  std::map<std::string, std::uint64_t> busy_ps;
  for (const TraceSlice& slice : traced.trace.slices) {
    busy_ps[kind_of(traced.trace.cores[slice.core])] += slice.ps;
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < slice.parts; ++i)
      sum += traced.trace.parts[slice.first_part + i].ps;
    ASSERT_EQ(sum, slice.ps);
  }
  for (const CoreResult& core : traced.result.cores)
    EXPECT_EQ(busy_ps[core.name], core.busy_ps) << core.name;
}

TEST_P(RunTraced, SlicesOfACoreFollowOneAnother) {
  const TracedRun traced = run_traced(GetParam());
  std::map<std::string, std::uint64_t> end_ps;
  for (const TraceSlice& slice : traced.trace.slices) {
    std::uint64_t& end = end_ps[traced.trace.cores[slice.core]];
    ASSERT_TRUE(slice.start_ps >= end || traced.trace.cores[slice.core].empty());
    end = slice.start_ps + slice.ps;
  }
  for (const CoreResult& core : traced.result.cores)
    EXPECT_LE(end_ps[core.name], core.busy_ps + core.idle_ps) << core.name;
}

TEST_P(RunTraced, EveryKickAndCallIsAFlowBetweenTwoCores) {
  const TracedRun traced = run_traced(GetParam());
  std::map<TraceFlowKind, std::uint64_t> flows;
  for (const TraceFlow& flow : traced.trace.flows) {
    ++flows[flow.kind];
    EXPECT_NE(flow.from, flow.to);
  }
  // A kick that is served on the spot rings no bell, and two calls in one step are one bell.
  EXPECT_LE(flows[TraceFlowKind::kKick], traced.result.kicks);
  EXPECT_LE(flows[TraceFlowKind::kCall], traced.result.calls);
  const bool told = GetParam().inline_packets == 0 && GetParam().blk.form != "vmm";
  EXPECT_TRUE(!told || traced.result.kicks == 0 || flows[TraceFlowKind::kKick] > 0);
  EXPECT_TRUE(traced.result.calls == 0 || traced.result.interrupts == 0 ||
              flows[TraceFlowKind::kCall] > 0);
}

// How many of each kind there are between guest and worker.
std::map<TraceFlowKind, std::uint64_t> flows_of(const Trace& trace) {
  std::map<TraceFlowKind, std::uint64_t> flows;
  for (const TraceFlow& flow : trace.flows) {
    const bool kick = flow.kind == TraceFlowKind::kKick;
    EXPECT_EQ(trace.cores[flow.from], kick ? "guest" : "worker");
    EXPECT_EQ(trace.cores[flow.to], kick ? "worker" : "guest");
    ++flows[flow.kind];
  }
  return flows;
}

TEST(RunTracedFlows, OneQueueHasOneForEachKick) {
  const TracedRun traced = run_traced(shape("tx"));
  EXPECT_GT(traced.result.kicks, 1u);
  EXPECT_EQ(flows_of(traced.trace)[TraceFlowKind::kKick], traced.result.kicks);
}

TEST(RunTracedFlows, OneQueueHasOneForEachCall) {
  const TracedRun traced = run_traced(shape("rx"));
  EXPECT_GT(traced.result.calls, 1u);
  EXPECT_EQ(flows_of(traced.trace)[TraceFlowKind::kCall], traced.result.calls);
}

INSTANTIATE_TEST_SUITE_P(Shapes, RunTraced, testing::ValuesIn(shapes()),
                         [](const auto& shape_info) {
                           return shape_info.param.workload + std::to_string(shape_info.index);
                         });

TEST(RunTracedLimits, ARunOfTooManySlicesIsRefused) {
  Scenario s;
  s.packets = 200000;
  try {
    run_traced(s);
    FAIL();
  } catch (const std::invalid_argument& refusal) {
    EXPECT_STREQ(refusal.what(), "trace: more than 500000 slices: trace a shorter run");
  }
  EXPECT_EQ(Recorder::current(), nullptr);
}

}  // namespace
}  // namespace vringlab::sim
