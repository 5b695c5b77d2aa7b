// What becomes of frames in each kind of sink, seen from outside: by runs.
#include "sim/host/sinks.h"

#include <gtest/gtest.h>

#include "sim/host/sink.h"
#include "sim/run/run.h"

namespace vringlab::sim {
namespace {

Scenario to(std::string_view sink) {
  Scenario s;
  s.sink = sink;
  s.packets = 3000;
  return s;
}

// Picoseconds of one cost in the worker's step `send`.
std::uint64_t spent(const RunResult& result, Cost cost) {
  for (const LedgerRow& row : result.cores[1].ledger) {
    if (row.cost == cost && row.step == Step::kSend) return row.ps;
  }
  return 0;
}
std::uint64_t count(const RunResult& result, Cost cost, Step step = Step::kSend) {
  for (const LedgerRow& row : result.cores[1].ledger) {
    if (row.cost == cost && row.step == step) return row.count;
  }
  return 0;
}

TEST(Sinks, have_different_names_and_say_what_they_are) {
  for (const SinkKind& a : sink_kinds()) {
    EXPECT_FALSE(a.doc.empty());
    EXPECT_EQ(&find_sink(a.name), &a) << a.name;
  }
}

TEST(Sinks, each_takes_all_frames_and_accounts_for_each_picosecond) {
  for (const SinkKind& sink : sink_kinds()) {
    for (const bool batching : {true, false}) {
      Scenario s = to(sink.name);
      s.tx_batching = batching;
      const RunResult result = run(s);
      EXPECT_EQ(result.packets + result.dropped, s.packets) << sink.name;
      EXPECT_EQ(result.dropped > 0, sink.is_read() && batching) << sink.name;
      for (const CoreResult& core : result.cores) {
        std::uint64_t sum = 0;
        for (const LedgerRow& row : core.ledger) sum += row.ps;
        EXPECT_EQ(sum, core.busy_ps) << sink.name << " " << core.name;
      }
    }
  }
}

TEST(Sinks, one_call_a_frame_is_slower_everywhere) {
  for (const SinkKind& sink : sink_kinds()) {
    Scenario s = to(sink.name);
    const double batched = run(s).rate_pps;
    s.tx_batching = false;
    EXPECT_LT(run(s).rate_pps, batched) << sink.name;
  }
}

TEST(Sinks, a_call_is_paid_once_a_batch_or_once_a_frame) {
  Scenario s = to("xdp_drop");
  const RunResult batched = run(s);
  EXPECT_EQ(count(batched, Cost::kSendCall), batched.batches);
  s.tx_batching = false;
  EXPECT_EQ(count(run(s), Cost::kSendCall), s.packets);
}

TEST(Sinks, a_redirecting_program_tells_its_nic_once_a_call_and_macvtap_of_each_frame) {
  const RunResult redirect = run(to("xdp_redirect"));
  EXPECT_EQ(count(redirect, Cost::kNicDoorbell), redirect.batches);
  EXPECT_EQ(count(redirect, Cost::kXdpRedirect), 3000u);
  const RunResult macvtap = run(to("macvtap"));
  EXPECT_EQ(count(macvtap, Cost::kNicDoorbell), 3000u);
  EXPECT_EQ(spent(macvtap, Cost::kXdpProgram), 0u);
}

TEST(Sinks, a_socket_without_a_program_needs_a_buffer_of_its_own_for_a_lone_frame) {
  Scenario s = to("macvtap");
  EXPECT_EQ(count(run(s), Cost::kSkbAlloc, Step::kBuild), 0u);
  s.tx_batching = false;
  EXPECT_EQ(count(run(s), Cost::kSkbAlloc, Step::kBuild), 3000u);
}

TEST(Sinks, frames_above_a_page_go_alone) {
  Scenario s = to("xdp_drop");
  s.packets = 300;
  s.packet_bytes = 9000;
  const RunResult result = run(s);
  EXPECT_EQ(result.packets, 300u);
  EXPECT_EQ(count(result, Cost::kSendCall), 300u);
  EXPECT_EQ(count(result, Cost::kPageAlloc, Step::kBuild), 300u);
  s.packet_bytes = 65549;  // three times 32 KiB
  EXPECT_EQ(count(run(s), Cost::kPageAlloc, Step::kBuild), 3 * 300u);
}

TEST(Sinks, a_slow_nic_drops_what_it_has_no_room_for) {
  Scenario s = to("xdp_redirect");
  s.nic_pps = 1e6;
  const RunResult result = run(s);
  EXPECT_EQ(result.packets + result.dropped, s.packets);
  const std::uint64_t sent = result.elapsed_ps / 1000000;  // one a microsecond
  EXPECT_LE(result.packets, sent + 513);                   // its ring is full at the end
  EXPECT_GE(result.packets + 30, sent + 512);              // it had nothing to send at the start
}

// The reader takes a system call a frame, so it is the slower one: what it has no time for
// is lost, and what it has read and what still waits for it has been sent.
TEST(Sinks, a_reader_that_is_too_slow_limits_what_is_sent_back) {
  Scenario s = to("xdp_tx");
  s.packets = 30000;
  const RunResult r = run(s);
  EXPECT_EQ(r.cores.back().name, "reader");
  EXPECT_EQ(r.cores.back().idle_ps + r.cores.back().busy_ps > 0, true);
  EXPECT_EQ(r.packets + r.dropped, s.packets);
  EXPECT_GT(r.dropped, s.packets / 10);
  const std::uint64_t reads = [&] {
    for (const LedgerRow& row : r.cores.back().ledger) {
      if (row.cost == Cost::kFrameRelease) return row.count;
    }
    return std::uint64_t{0};
  }();
  EXPECT_LE(reads, r.packets);
  EXPECT_GE(reads + s.tap_entries, r.packets);
  // Each frame that was lost was freed by the worker.
  EXPECT_EQ(count(r, Cost::kFrameRelease), r.dropped);
  // As fast as the reader: it is never idle once it was woken.
  EXPECT_NEAR(static_cast<double>(r.cores.back().busy_ps), static_cast<double>(r.elapsed_ps),
              0.02 * static_cast<double>(r.elapsed_ps));
}

TEST(Sinks, a_reader_that_keeps_up_loses_nothing_and_sleeps) {
  Scenario s = to("xdp_tx");
  s.offered_pps = 1e5;
  const RunResult r = run(s);
  EXPECT_EQ(r.dropped, 0u);
  EXPECT_GT(count(r, Cost::kReaderWake), s.packets / 2);
  EXPECT_GT(r.cores.back().idle_ps, r.cores.back().busy_ps);
}

// Dearer reads, fewer frames; the worker does its work all the same.
TEST(Sinks, the_rate_of_a_reader_is_that_of_the_sink) {
  Scenario s = to("xdp_tx");
  s.packets = 30000;
  const RunResult fast = run(s);
  s.costs = {{"syscall.kpti_pcid", 2000}};
  const RunResult slow = run(s);
  EXPECT_LT(slow.rate_pps, 0.8 * fast.rate_pps);
  EXPECT_NEAR(static_cast<double>(slow.elapsed_ps), static_cast<double>(fast.elapsed_ps),
              0.1 * static_cast<double>(fast.elapsed_ps));
}

TEST(NicRate, takes_what_it_has_room_for) {
  NicRate nic(10, 2);
  EXPECT_TRUE(nic.take(100));
  EXPECT_TRUE(nic.take(100));
  EXPECT_TRUE(nic.take(100));
  EXPECT_FALSE(nic.take(100));  // one is sent, two wait
  EXPECT_TRUE(nic.take(110));
  EXPECT_FALSE(nic.take(110));
  NicRate fast(0, 0);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(fast.take(0));
}

}  // namespace
}  // namespace vringlab::sim
