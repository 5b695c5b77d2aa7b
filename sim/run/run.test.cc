#include "sim/run/run.h"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <thread>

#include "tests/double/run_expect.h"
#include "tests/double/run_text.h"

namespace vringlab::sim {
namespace {

using test::text_of;

using test::core;
using test::count;
using test::expect_whole;
using test::map_all;

constexpr std::uint64_t kPackets = 1000;

// Scenarios that differ in how the halves meet, by name.
std::map<std::string, Scenario> shapes() {
  const Scenario base{.packets = kPackets};
  std::map<std::string, Scenario> rows;
  const auto add = [&](const char* name, auto change) {
    Scenario s = base;
    change(s);
    rows[name] = s;
  };
  add("default", [](Scenario&) {});
  add("event_idx", [](Scenario& s) { s.event_idx = true; });
  add("split_header", [](Scenario& s) { s.split_header = true; });
  add("indirect", [](Scenario& s) { s.split_header = s.indirect = true; });
  add("interrupt", [](Scenario& s) { s.guest_notify = "interrupt"; });
  add("interrupt_event_idx", [](Scenario& s) {
    s.guest_notify = "interrupt";
    s.event_idx = true;
  });
  add("vm", [](Scenario& s) { s.guest = "vm"; });
  add("periodic", [](Scenario& s) { s.offered_pps = 1e5; });
  add("poisson", [](Scenario& s) {
    s.offered_pps = 1e6;
    s.arrival = "poisson";
  });
  add("poisson_busy_poll", [](Scenario& s) {
    s.offered_pps = 1e6;
    s.arrival = "poisson";
    s.busy_poll_us = 5;
    s.event_idx = true;
  });
  add("inline", [](Scenario& s) { s.inline_packets = 4; });
  add("inline_light", [](Scenario& s) {
    s.inline_packets = 4;
    s.offered_pps = 1e5;
    s.event_idx = true;
  });
  add("copy_batch", [](Scenario& s) { s.copy_batch = 16; });
  add("copy_batch_above_batch", [](Scenario& s) {
    s.copy_batch = 64;
    s.batch = 7;
  });
  add("weight_of_one_packet", [](Scenario& s) { s.weight_packets = 1; });
  add("weight_of_one_byte", [](Scenario& s) { s.weight_bytes = 1; });
  add("mapped", [](Scenario& s) { s.plan = map_all(Guard::kRcu); });
  add("invalidated", [](Scenario& s) {
    s.plan = map_all(Guard::kSpinlock);
    s.invalidations_per_s = 1e5;
  });
  add("remote", [](Scenario& s) {
    s.distance = "remote";
    s.ring_remote = true;
  });
  add("large_frames", [](Scenario& s) { s.packet_bytes = 2048; });
  add("smallest_frames", [](Scenario& s) { s.packet_bytes = 14; });
  add("one_by_one", [](Scenario& s) { s.batch = s.guest_burst = 1; });
  add("burst_above_ring", [](Scenario& s) {
    s.ring_size = 16;
    s.guest_burst = 100;
  });
  return rows;
}

TEST(Run, all_packets_arrive_and_every_picosecond_is_accounted) {
  for (const auto& [name, scenario] : shapes()) {
    SCOPED_TRACE(name);
    expect_whole(scenario);
  }
}

TEST(Run, the_same_scenario_gives_the_same_result) {
  for (const auto& [name, scenario] : shapes())
    EXPECT_EQ(text_of(run(scenario)), text_of(run(scenario))) << name;
}

// Empty polls accounted in a row are the polls that a step each would have made.
TEST(Run, skipped_polls_are_the_polls_of_the_long_way) {
  for (auto [name, scenario] : shapes()) {
    scenario.skip_polls = false;
    const std::string stepped = text_of(run(scenario));
    scenario.skip_polls = true;
    EXPECT_EQ(text_of(run(scenario)), stepped) << name;
  }
}

TEST(Run, a_slow_worker_makes_the_guest_poll_and_none_is_forgotten) {
  Scenario s{.costs = {{"tun_send_call", 1000000}}, .packets = kPackets};
  const RunResult skipped = run(s);
  EXPECT_GT(count(core(skipped, "guest"), Cost::kGuestPoll), kPackets);
  s.skip_polls = false;
  EXPECT_EQ(text_of(run(s)), text_of(skipped));
}

// Without an invalidation at the very time of another core's step, no two steps at
// one time have to do with each other.
TEST(Run, permuted_ties_change_nothing) {
  for (auto [name, scenario] : shapes()) {
    if (scenario.invalidations_per_s > 0) continue;
    const std::string unpermuted = text_of(run(scenario));
    for (scenario.tie_seed = 1; scenario.tie_seed < 6; ++scenario.tie_seed)
      EXPECT_EQ(text_of(run(scenario)), unpermuted) << name << ' ' << scenario.tie_seed;
  }
}

TEST(Run, only_random_arrivals_depend_on_the_seed) {
  Scenario s{.packets = kPackets, .offered_pps = 1e6, .arrival = "poisson"};
  const std::string first = text_of(run(s));
  s.seed = 1;
  EXPECT_NE(text_of(run(s)), first);
  s.arrival = "periodic";
  const std::string periodic = text_of(run(s));
  s.seed = 2;
  EXPECT_EQ(text_of(run(s)), periodic);
}

// --- Plans ---

std::vector<AccessPlan> all_plans() {
  std::vector<AccessPlan> plans;
  for (unsigned maps = 0; maps < 8; ++maps) {
    for (const Guard guard :
         {Guard::kNone, Guard::kRcu, Guard::kCounter, Guard::kSpinlock, Guard::kAtomic}) {
      if (maps == 0 && guard != Guard::kNone) continue;  // nothing to guard
      for (const UserAccess access : {UserAccess::kCopyUser, UserAccess::kMasked,
                                      UserAccess::kSection, UserAccess::kSharedFixup}) {
        for (const SectionSpan span : {SectionSpan::kOneArea, SectionSpan::kSeveralAreas})
          plans.push_back({.map_desc = (maps & 1) != 0,
                           .map_avail = (maps & 2) != 0,
                           .map_used = (maps & 4) != 0,
                           .guard = guard,
                           .user_access = access,
                           .section_span = span});
      }
    }
  }
  return plans;
}

TEST(Plans, each_runs_and_none_changes_what_the_guest_sees) {
  const Scenario plain{.packets = 200, .ring_size = 64};
  const std::uint64_t hash = run(plain).guest_memory_hash;
  for (const AccessPlan& plan : all_plans()) {
    for (const UsedElement element : {UsedElement::kTwoWords, UsedElement::kBlock}) {
      Scenario s = plain;
      s.plan = plan;
      s.plan.used_element = element;
      EXPECT_EQ(expect_whole(s).guest_memory_hash, hash);
    }
  }
}

TEST(Plans, mapped_is_faster_and_the_rest_lies_between) {
  Scenario s{.packets = 20000};
  const double user = run(s).rate_pps;
  s.plan.map_desc = true;
  const double desc = run(s).rate_pps;
  s.plan = map_all();
  const double mapped = run(s).rate_pps;
  s.plan = {.user_access = UserAccess::kSection, .section_span = SectionSpan::kSeveralAreas};
  const double section = run(s).rate_pps;
  EXPECT_GT(desc, user);
  EXPECT_GT(mapped, desc);
  EXPECT_GT(section, user);
  EXPECT_GT(mapped, section);
}

// Toggles of the worker in one step, a packet.
double toggles(const RunResult& r, Step step) {
  return static_cast<double>(count(core(r, "worker"), Cost::kStacClac, step)) /
         static_cast<double>(r.packets);
}

TEST(Plans, payload_copies_keep_their_toggles) {
  for (const AccessPlan& plan : {AccessPlan{}, map_all()}) {
    const RunResult r = run({.packets = kPackets, .plan = plan});
    EXPECT_EQ(toggles(r, Step::kHeaderCopy), 1);
    EXPECT_EQ(toggles(r, Step::kPayloadCopy), 1);
    EXPECT_EQ(toggles(r, Step::kDescriptor), plan.map_desc ? 0 : 1);
    EXPECT_EQ(toggles(r, Step::kAvailHead), plan.map_avail ? 0 : 1);
  }
}

TEST(Plans, copies_in_one_go_share_their_toggles) {
  const RunResult r = run({.packets = 1024, .copy_batch = 16});
  EXPECT_EQ(toggles(r, Step::kHeaderCopy), 0);
  EXPECT_LT(toggles(r, Step::kPayloadCopy), 0.1);
}

TEST(Plans, pinned_bytes_are_the_pages_of_the_mapped_areas) {
  Scenario s{.packets = 10, .ring_size = 256, .plan = map_all()};
  EXPECT_EQ(run(s).pinned_bytes, 3u * 4096);
  s.ring_offset = 16;  // 4096 bytes of descriptors now lie on two pages
  EXPECT_EQ(run(s).pinned_bytes, 4u * 4096);
  s.plan = {};
  EXPECT_EQ(run(s).pinned_bytes, 0u);
  EXPECT_EQ(run(s).setup_ps, 0u);
}

TEST(Plans, mapping_costs_at_set_up_and_tear_down_are_of_the_control_core) {
  const RunResult r = run({.packets = 10, .plan = map_all(Guard::kRcu)});
  EXPECT_GT(r.setup_ps, 0u);
  EXPECT_GT(r.teardown_ps, r.setup_ps);
  EXPECT_EQ(core(r, "control").busy_ps, r.setup_ps + r.teardown_ps);
  EXPECT_EQ(count(core(r, "control"), Cost::kRcuGrace), 1u);
  EXPECT_EQ(count(core(r, "worker"), Cost::kGup), 0u);
}

// --- Notifications ---

TEST(Notifications, a_guest_that_sleeps_is_always_woken) {
  for (const bool event_idx : {false, true}) {
    for (const std::uint32_t ring_size : {2u, 4u, 16u, 256u}) {
      for (const std::uint32_t burst : {1u, 3u, 32u, 300u}) {
        for (const std::uint32_t batch : {1u, 64u, 1024u}) {
          SCOPED_TRACE(testing::Message()
                       << event_idx << ' ' << ring_size << ' ' << burst << ' ' << batch);
          const RunResult r = expect_whole({.guest_notify = "interrupt",
                                            .packets = kPackets,
                                            .guest_burst = burst,
                                            .ring_size = ring_size,
                                            .event_idx = event_idx,
                                            .batch = batch});
          EXPECT_LE(r.interrupts, r.calls);
          if (ring_size <= 16) {
            EXPECT_GT(r.interrupts, 0u);
          }
        }
      }
    }
  }
}

TEST(Notifications, a_guest_that_polls_is_never_called) {
  for (const bool event_idx : {false, true}) {
    const RunResult r = run({.packets = kPackets, .event_idx = event_idx});
    EXPECT_EQ(r.interrupts, 0u);
    // The device has no index to compare the first time, and so calls once.
    EXPECT_EQ(r.calls, event_idx ? 1u : 0u);
  }
}

TEST(Notifications, a_worker_that_polls_long_enough_is_woken_once) {
  Scenario s{.packets = kPackets, .offered_pps = 1e5};
  EXPECT_EQ(run(s).wakeups, kPackets);
  s.busy_poll_us = 20;  // packets are 10 us apart
  const RunResult polling = run(s);
  EXPECT_EQ(polling.wakeups, 1u);
  EXPECT_EQ(polling.kicks, 1u);
  EXPECT_GT(count(core(polling, "worker"), Cost::kBusyPollTurn), kPackets);
  s.busy_poll_us = 5;
  EXPECT_EQ(run(s).wakeups, kPackets);
}

TEST(Notifications, kicks_cost_an_exit_or_a_system_call) {
  Scenario s{.packets = 100, .offered_pps = 1e5};
  const RunResult process = run(s);
  EXPECT_EQ(count(core(process, "guest"), Cost::kSyscall), process.kicks);
  EXPECT_EQ(count(core(process, "guest"), Cost::kVmExit), 0u);
  s.guest = "vm";
  const RunResult vm = run(s);
  EXPECT_EQ(count(core(vm, "guest"), Cost::kVmExit), vm.kicks);
  EXPECT_EQ(count(core(vm, "guest"), Cost::kSyscall), 0u);
}

// A light load is served by the kick itself, sooner than a worker could wake up.
TEST(Notifications, a_light_load_is_served_by_its_kicks) {
  Scenario s{.packets = kPackets, .offered_pps = 1e5};
  const RunResult woken = run(s);
  s.inline_packets = 1;
  const RunResult served = expect_whole(s);
  EXPECT_EQ(served.inline_packets, kPackets);
  EXPECT_EQ(served.wakeups, 0u);
  EXPECT_EQ(core(served, "worker").busy_ps, 0u);
  EXPECT_LT(served.latency.max_ps, woken.latency.p50_ps);
}

// The limit of a kick is reached with packets left over that it has seen: nobody
// else will ever tell the worker of them.
TEST(Notifications, a_kick_that_serves_its_limit_leaves_the_rest_to_the_worker) {
  for (const bool event_idx : {false, true}) {
    for (const std::uint32_t inline_packets : {1u, 2u, 3u, 4u}) {
      const RunResult r =
          expect_whole({.packets = 4, .event_idx = event_idx, .inline_packets = inline_packets});
      EXPECT_EQ(r.inline_packets, inline_packets);
      EXPECT_EQ(r.wakeups, inline_packets < 4 ? 1u : 0u);
    }
  }
}

// --- Invalidation ---

TEST(Invalidation, is_charged_and_the_ring_is_mapped_again) {
  Scenario s{.packets = 20000, .plan = map_all(Guard::kSpinlock)};
  const RunResult calm = run(s);
  s.invalidations_per_s = 1e4;
  const RunResult r = expect_whole(s);
  EXPECT_GT(r.invalidations, 10u);
  EXPECT_EQ(count(core(r, "control"), Cost::kMmuNotifier), r.invalidations);
  // Once at set-up by the control core, then by the worker after each one but the last.
  const std::uint64_t remapped = count(core(r, "worker"), Cost::kGup, Step::kMapping) / 3;
  EXPECT_GE(remapped, r.invalidations - 1);
  EXPECT_LE(remapped, r.invalidations);
  EXPECT_GT(count(core(r, "worker"), Cost::kStacClac, Step::kDescriptor), 0u);
  EXPECT_EQ(count(core(calm, "worker"), Cost::kStacClac, Step::kDescriptor), 0u);
  EXPECT_LT(r.rate_pps, calm.rate_pps);
}

TEST(Invalidation, without_a_mapping_nothing_happens) {
  const RunResult r = run({.packets = 20000, .invalidations_per_s = 1e5});
  EXPECT_EQ(r.invalidations, 0u);
  EXPECT_EQ(core(r, "control").busy_ps, 0u);
}

TEST(Invalidation, at_the_highest_rate_the_run_ends) {
  for (const Guard guard : {Guard::kNone, Guard::kRcu})
    expect_whole({.packets = kPackets, .plan = map_all(guard), .invalidations_per_s = 1e6});
}

// --- Control ---

TEST(Control, reports_packets) {
  RunControl control;
  run({.packets = kPackets}, &control);
  EXPECT_EQ(control.packets_done, kPackets);
}

TEST(Control, a_run_that_is_told_to_stop_before_it_starts_does) {
  RunControl control;
  control.stop = true;
  EXPECT_THROW(run({.packets = kPackets}, &control), Stopped);
  EXPECT_LT(control.packets_done, kPackets);
}

// Would take days.
TEST(Control, a_run_stops_from_another_thread) {
  RunControl control;
  std::thread stopper([&control] {
    while (control.packets_done < kPackets) std::this_thread::yield();
    control.stop = true;
  });
  EXPECT_THROW(run({.packets = 1000000000000}, &control), Stopped);
  stopper.join();
  EXPECT_GE(control.packets_done, kPackets);
}

TEST(Control, a_bad_scenario_is_refused_before_anything_runs) {
  RunControl control;
  EXPECT_THROW(run({.ring_size = 3}, &control), std::invalid_argument);
  EXPECT_EQ(control.packets_done, 0u);
}

// 1e14 ps a packet: 64 bits would hold 184467 of them.
TEST(Control, a_run_beyond_the_end_of_the_clock_is_refused) {
  EXPECT_THROW(run({.costs = {{"xdp_program_noop", 1e11}}, .packets = 200000}),
               std::invalid_argument);
  EXPECT_EQ(run({.costs = {{"xdp_program_noop", 1e11}}, .packets = 1000}).packets, 1000u);
}

}  // namespace
}  // namespace vringlab::sim
