#include "sim/machine/core.h"

#include <gtest/gtest.h>

#include "sim/cost/random.h"

namespace vringlab::sim {
namespace {

constexpr std::uint32_t kLines = 4096;
constexpr std::uint32_t kPages = 2000;

// Figures that divide evenly: at 1 GHz a cycle is 1000 ps. Half of a load's
// latency hides, a tenth of a store's is waited for.
CostModel round_costs(double overlap) {
  const std::vector<CostOverride> rows = {{"clock_ghz", 1},
                                          {"ooo_overlap", overlap},
                                          {"store_exposed", 0.1},
                                          {"load.l2", 12},
                                          {"load.l3", 60},
                                          {"load.dram", 90},
                                          {"line_transfer.same_socket", 40},
                                          {"line_transfer.remote_socket", 100},
                                          {"line_stream", 5},
                                          {"remote_home_extra", 30},
                                          {"copy_per_byte.l1", 0.0625},
                                          {"stlb_hit", 7},
                                          {"page_walk", 30}};
  return resolve_costs(find_host("broadwell-2.6"), find_kernel("v5.0"), rows);
}

enum ToyOp : std::size_t { kWork, kBarrier, kSplit, kLong };

// Operations of a table of their own: 1 ns of work; a barrier of 2 ns; 3 ns before
// an access and 4 after it; 10 ns of work in two parts.
std::vector<Operation> toy_operations() {
  const auto part = [](Cost cost, std::uint64_t ps, std::uint64_t count) {
    return Operation::Part{Step::kBuild, cost, ps, count};
  };
  return {{Step::kBuild, false, 1000, 0, {part(Cost::kPlainAccess, 1000, 1)}},
          {Step::kCall, true, 2000, 0, {part(Cost::kLfenceFloor, 2000, 1)}},
          {Step::kBuild, false, 3000, 4000, {part(Cost::kStacClac, 7000, 1)}},
          {Step::kBuild,
           false,
           10000,
           0,
           {part(Cost::kPageFrag, 4000, 2), part(Cost::kTranslate, 6000, 1)}}};
}

struct Rig {
  std::vector<std::byte> memory = std::vector<std::byte>(kLines * 64);
  std::vector<Operation> operations = toy_operations();
  Machine machine;
  Core core;
  Core other;

  explicit Rig(double overlap = 0.5)
      : machine(round_costs(overlap), Coherence(kLines, 2, find_host("broadwell-2.6")),
                memory.data()),
        core(machine, 0, operations, kPages),
        other(machine, 1, operations, kPages) {}

  // Makes the lines first..last modified by the other core, and nobody's before.
  void other_writes(LineId first, LineId last) { other.store_lines(first, last, Step::kGuestFill); }
  std::uint64_t spent(Cost cost, Step step) const { return core.ledger().at(cost, step).ps; }
  std::uint64_t drained() const { return spent(Cost::kBarrierDrain, Step::kCall); }
};

TEST(Core, an_operation_is_one_addition_and_its_parts_in_the_ledger) {
  Rig rig;
  rig.core.run(kLong);
  rig.core.run(kLong);
  rig.core.run(kSplit);
  EXPECT_EQ(rig.core.now(), 27000u);
  EXPECT_EQ(rig.spent(Cost::kPageFrag, Step::kBuild), 8000u);
  EXPECT_EQ(rig.core.ledger().at(Cost::kPageFrag, Step::kBuild).count, 4u);
  EXPECT_EQ(rig.spent(Cost::kTranslate, Step::kBuild), 12000u);
  EXPECT_EQ(rig.spent(Cost::kStacClac, Step::kBuild), 7000u);
}

TEST(Core, run_times_is_as_many_runs) {
  Rig once;
  Rig many;
  for (int i = 0; i < 1000; ++i) once.core.run(kSplit);
  many.core.run_times(kSplit, 1000);
  EXPECT_EQ(many.core.now(), once.core.now());
  EXPECT_EQ(many.core.ledger().at(Cost::kStacClac, Step::kBuild).count, 1000u);
  EXPECT_EQ(many.spent(Cost::kStacClac, Step::kBuild), once.spent(Cost::kStacClac, Step::kBuild));
}

TEST(Core, a_hit_in_l1_costs_nothing_beyond_its_operation) {
  Rig rig;
  rig.core.load(1, Step::kSend);
  const std::uint64_t before = rig.core.now();
  rig.core.load(1, Step::kSend);
  EXPECT_EQ(rig.core.now(), before);
}

TEST(Core, a_load_waits_for_the_part_that_nothing_hides) {
  Rig rig;
  rig.other_writes(1, 1);
  rig.core.load(1, Step::kSend);
  EXPECT_EQ(rig.core.now(), 20000u);  // half of a transfer of 40 ns
  EXPECT_EQ(rig.spent(Cost::kTransferSocket, Step::kSend), 20000u);
  rig.core.load(2, Step::kSend);
  EXPECT_EQ(rig.core.now(), 65000u);  // and half of 90 ns from memory
  EXPECT_EQ(rig.spent(Cost::kDram, Step::kSend), 45000u);
}

TEST(Core, a_barrier_directly_after_a_load_exposes_all_of_it) {
  Rig rig;
  rig.other_writes(1, 1);
  rig.core.load(1, Step::kSend);
  rig.core.run(kBarrier);
  EXPECT_EQ(rig.drained(), 20000u);
  EXPECT_EQ(rig.core.now(), 40000u + 2000);
}

TEST(Core, work_before_the_barrier_hides_as_much) {
  for (std::uint64_t work = 0; work <= 25; ++work) {
    Rig rig;
    rig.other_writes(1, 1);
    rig.core.load(1, Step::kSend);
    for (std::uint64_t i = 0; i < work; ++i) rig.core.run(kWork);
    rig.core.run(kBarrier);
    const std::uint64_t left = work < 20 ? 20000 - work * 1000 : 0;
    EXPECT_EQ(rig.drained(), left) << work;
    EXPECT_EQ(rig.core.ledger().at(Cost::kBarrierDrain, Step::kCall).count, left > 0 ? 1u : 0u);
    EXPECT_EQ(rig.core.now(), 20000 + work * 1000 + left + 2000) << work;
  }
}

TEST(Core, without_a_barrier_the_hidden_part_is_free) {
  Rig rig;
  rig.other_writes(1, 1);
  rig.core.load(1, Step::kSend);
  rig.core.run(kWork);
  EXPECT_EQ(rig.drained(), 0u);
  EXPECT_EQ(rig.core.now(), 21000u);
}

TEST(Core, a_barrier_waits_once) {
  Rig rig;
  rig.other_writes(1, 1);
  rig.core.load(1, Step::kSend);
  rig.core.run(kBarrier);
  rig.core.run(kBarrier);
  EXPECT_EQ(rig.drained(), 20000u);
}

// The latencies of two loads run side by side: the barrier waits for the later end.
TEST(Core, a_barrier_waits_for_the_last_of_the_loads) {
  Rig rig;
  rig.other_writes(2, 2);
  rig.core.load(1, Step::kSend);  // from memory: waits 45 ns, done at 90
  rig.core.load(2, Step::kSend);  // a transfer: waits 20 ns until 65, done at 85
  rig.core.run(kBarrier);
  EXPECT_EQ(rig.drained(), 25000u);
}

TEST(Core, what_follows_the_access_in_its_operation_hides_a_part) {
  Rig rig;
  rig.other_writes(1, 1);
  rig.core.begin(kSplit);
  rig.core.load(1, Step::kSend);
  rig.core.end(kSplit);
  rig.core.run(kBarrier);
  EXPECT_EQ(rig.drained(), 16000u);  // 20 ns less the 4 ns after the access
}

TEST(Core, an_overlap_of_one_hides_all_and_of_zero_nothing) {
  for (const double overlap : {0.0, 1.0}) {
    Rig rig(overlap);
    rig.other_writes(1, 1);
    rig.core.load(1, Step::kSend);
    EXPECT_EQ(rig.core.now(), overlap == 1 ? 0u : 40000u);
    rig.core.run(kBarrier);
    EXPECT_EQ(rig.core.now(), 42000u);  // a barrier makes both the same
  }
}

TEST(Core, waiting_hides_as_well_as_work) {
  Rig rig;
  rig.other_writes(1, 1);
  rig.core.load(1, Step::kSend);
  rig.core.idle_until(35000);
  rig.core.run(kBarrier);
  EXPECT_EQ(rig.drained(), 5000u);
  EXPECT_EQ(rig.core.idle_ps(), 15000u);
  EXPECT_EQ(rig.core.busy_ps(), 27000u);
}

TEST(Core, idle_until_a_time_in_the_past_is_no_wait) {
  Rig rig;
  rig.core.run(kLong);
  rig.core.idle_until(9999);
  rig.core.idle_until(10000);
  EXPECT_EQ(rig.core.now(), 10000u);
  EXPECT_EQ(rig.core.idle_ps(), 0u);
}

TEST(Core, the_store_buffer_hides_most_of_a_store) {
  Rig rig;
  rig.other_writes(1, 1);
  rig.core.store(1, Step::kUsed);
  EXPECT_EQ(rig.spent(Cost::kStoreMiss, Step::kUsed), 4000u);  // a tenth of 40 ns
  rig.core.store(1, Step::kUsed);
  rig.core.run(kBarrier);
  EXPECT_EQ(rig.core.now(), 6000u);  // nothing for a barrier to wait for
}

TEST(Core, a_copy_waits_for_one_latency_then_takes_lines_at_a_rate) {
  Rig rig;
  rig.other_writes(1, 4);
  rig.core.load_lines(1, 4, Step::kPayloadCopy);
  EXPECT_EQ(rig.spent(Cost::kTransferSocket, Step::kPayloadCopy), 20000u);
  EXPECT_EQ(rig.spent(Cost::kLineStream, Step::kPayloadCopy), 15000u);
  EXPECT_EQ(rig.core.ledger().at(Cost::kLineStream, Step::kPayloadCopy).count, 3u);
  rig.core.run(kBarrier);
  EXPECT_EQ(rig.drained(), 5000u);  // of 40 ns, 35 are over
}

TEST(Core, lines_at_hand_do_not_start_the_stream) {
  Rig rig;
  rig.core.load(1, Step::kBuild);
  const std::uint64_t before = rig.core.now();
  rig.other_writes(2, 3);
  rig.core.load_lines(1, 3, Step::kPayloadCopy);
  EXPECT_EQ(rig.core.now() - before, 20000u + 5000);
  EXPECT_EQ(rig.core.ledger().at(Cost::kLineStream, Step::kPayloadCopy).count, 1u);
}

// 64 sets of 8 ways: eight more lines of its set push line 0 out of L1, not out of L2.
TEST(Core, a_line_in_l2_does_not_start_the_stream) {
  Rig rig;
  for (LineId line = 0; line <= 8 * 64; line += 64) rig.core.load(line, Step::kBuild);
  rig.other_writes(1, 2);
  rig.core.load_lines(0, 2, Step::kPayloadCopy);
  EXPECT_EQ(rig.spent(Cost::kL2Hit, Step::kPayloadCopy), 6000u);
  EXPECT_EQ(rig.spent(Cost::kTransferSocket, Step::kPayloadCopy), 20000u);
  EXPECT_EQ(rig.spent(Cost::kLineStream, Step::kPayloadCopy), 5000u);
}

// A copy of one line and a load of one line are the same thing.
TEST(Core, a_copy_of_one_line_is_a_load) {
  Rig copy;
  Rig load;
  copy.core.load_lines(7, 7, Step::kSend);
  load.core.load(7, Step::kSend);
  EXPECT_EQ(copy.core.now(), load.core.now());
  EXPECT_EQ(copy.core.ledger().at(Cost::kLineStream, Step::kSend).count, 0u);
}

TEST(Core, lines_in_l2_have_their_own_latency_each) {
  Rig rig;
  for (LineId line = 0; line <= 9 * 64; line += 64) rig.core.load(line, Step::kBuild);
  rig.core.load(0, Step::kSend);
  rig.core.load(64, Step::kSend);
  EXPECT_EQ(rig.spent(Cost::kL2Hit, Step::kSend), 12000u);  // twice half of 12 ns
  EXPECT_EQ(rig.spent(Cost::kLineStream, Step::kSend), 0u);
}

TEST(Core, bytes_copied_have_a_rate) {
  Rig rig;
  rig.core.copy_bytes(64, Step::kPayloadCopy);
  EXPECT_EQ(rig.spent(Cost::kCopyBytes, Step::kPayloadCopy), 4000u);  // 16 bytes a cycle
  EXPECT_EQ(rig.core.ledger().at(Cost::kCopyBytes, Step::kPayloadCopy).count, 64u);
}

TEST(Core, a_line_with_a_remote_home_takes_longer) {
  Rig rig;
  rig.machine.remote_begin = 2;
  rig.machine.remote_lines = 3;
  for (const LineId line : {1u, 5u}) rig.core.load(line, Step::kSend);
  EXPECT_EQ(rig.spent(Cost::kRemoteHome, Step::kSend), 0u);
  const std::uint64_t before = rig.core.now();
  rig.core.load(2, Step::kSend);
  EXPECT_EQ(rig.core.now() - before, 45000u + 15000);
  rig.core.run(kBarrier);
  EXPECT_EQ(rig.core.now() - before, 90000u + 30000 + 2000);
  rig.other_writes(4, 4);
  rig.core.load(4, Step::kUsed);  // a transfer asks the home as well
  EXPECT_EQ(rig.spent(Cost::kRemoteHome, Step::kUsed), 15000u);
}

TEST(Core, a_shared_cache_has_remote_lines_as_well) {
  Rig rig;
  rig.machine.remote_lines = kLines;
  rig.other.load(3, Step::kBuild);
  rig.core.load(3, Step::kSend);
  EXPECT_EQ(rig.spent(Cost::kL3Hit, Step::kSend), 30000u);
  EXPECT_EQ(rig.spent(Cost::kRemoteHome, Step::kSend), 0u);
}

TEST(Core, a_page_is_walked_then_in_the_first_level_then_in_the_second) {
  Rig rig;
  rig.core.touch_page(0, Step::kSend);
  EXPECT_EQ(rig.spent(Cost::kTlb, Step::kSend), 30000u);
  rig.core.touch_page(0, Step::kSend);
  EXPECT_EQ(rig.spent(Cost::kTlb, Step::kSend), 30000u);
  for (std::uint32_t page = 1; page <= 64; ++page) rig.core.touch_page(page, Step::kBuild);
  rig.core.touch_page(0, Step::kSend);
  EXPECT_EQ(rig.spent(Cost::kTlb, Step::kSend), 37000u);
  EXPECT_EQ(rig.core.ledger().at(Cost::kTlb, Step::kSend).count, 2u);
}

TEST(Core, addresses_count_from_the_start_of_simulated_memory) {
  Rig rig;
  EXPECT_EQ(rig.core.line_of(rig.memory.data()), 0u);
  EXPECT_EQ(rig.core.line_of(rig.memory.data() + 63), 0u);
  EXPECT_EQ(rig.core.line_of(rig.memory.data() + 64), 1u);
  EXPECT_EQ(rig.core.offset_of(rig.memory.data() + 100), 100u);
}

// One random thing that a core can do.
void act(Core& core, RandomStream& random) {
  const auto line = static_cast<LineId>(random.next() % 300);
  const auto last = static_cast<LineId>(line + random.next() % 6);
  const auto step = static_cast<Step>(random.next() % kSteps);
  switch (random.next() % 8) {
    case 0:
      core.load(line, step);
      break;
    case 1:
      core.store(line, step);
      break;
    case 2:
      core.load_lines(line, last, step);
      break;
    case 3:
      core.store_lines(line, last, step);
      break;
    case 4:
      core.copy_bytes(static_cast<std::uint32_t>(random.next() % 2000), step);
      break;
    case 5:
      core.touch_page(static_cast<std::uint32_t>(random.next() % kPages), step);
      break;
    case 6:
      core.idle_until(random.next() % (2 * core.now() + 1));
      break;
    default:
      core.run(random.next() % 4);
      break;
  }
}

TEST(Core, every_busy_picosecond_is_in_the_ledger) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rig rig(0.37);  // so that shares need rounding
    rig.machine.remote_lines = 150;
    RandomStream random(seed);
    for (int i = 0; i < 2000; ++i) {
      Core& core = random.next() % 2 == 0 ? rig.core : rig.other;
      if (core.now() < std::uint64_t{1} << 40) act(core, random);
    }
    for (const Core* core : {&rig.core, &rig.other}) {
      EXPECT_EQ(core->now(), core->busy_ps() + core->idle_ps()) << seed;
      EXPECT_EQ(core->ledger().total_ps(), core->busy_ps()) << seed;
      EXPECT_GT(core->busy_ps(), 0u);
      EXPECT_GT(core->idle_ps(), 0u);
    }
  }
}

// Polls at `now`, `now + period`, ... up to the event.
std::uint64_t polls_counted(std::uint64_t now, std::uint64_t event, std::uint64_t period,
                            bool first) {
  std::uint64_t count = 0;
  for (; now < event || (now == event && first); now += period) ++count;
  return count;
}

TEST(PollsBefore, is_what_a_loop_counts) {
  for (std::uint64_t now = 0; now < 12; ++now) {
    for (std::uint64_t event = 0; event < 40; ++event) {
      for (std::uint64_t period = 1; period < 14; ++period) {
        for (const bool first : {false, true})
          ASSERT_EQ(polls_before(now, event, period, first),
                    polls_counted(now, event, period, first))
              << now << ' ' << event << ' ' << period << ' ' << first;
      }
    }
  }
}

TEST(PollsBefore, of_no_length_are_none) {
  EXPECT_EQ(polls_before(0, 10, 0, true), 0u);
  EXPECT_EQ(polls_before(0, 10, 0, false), 0u);
}

}  // namespace
}  // namespace vringlab::sim
