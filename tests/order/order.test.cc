// All interleavings of the two halves of a ring of two entries, on weak memory:
// no wake-up is lost and nothing unpublished is seen; and each place that core
// orders is needed for that.
#include <gtest/gtest.h>

#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

#include "tests/order/ring_halves.h"

namespace vringlab::order {
inline std::string name_of(const Scenario& s) {
  const auto number = [](const char* name, unsigned value) { return name + std::to_string(value); };
  return std::string(s.event_idx ? "event" : "flags") + number("_from", s.start) +
         number("_requests", s.requests) + (s.two_descriptors ? "_chained" : "") +
         number("_publish", s.publish_batch) + number("_flush", s.flush_batch) +
         (s.delayed_callback ? "_delayed" : "");
}
// NOLINTNEXTLINE: the name that GoogleTest looks for
inline void PrintTo(const Scenario& s, std::ostream* out) { *out << name_of(s); }

namespace {

// `requests` in every way that they can be batched.
std::vector<Scenario> scenarios(bool event_idx, std::uint16_t start, std::uint16_t requests) {
  std::vector<Scenario> all;
  for (unsigned i = 0; i < 16; ++i) {
    Scenario s{.event_idx = event_idx, .start = start, .requests = requests};
    s.two_descriptors = (i & 1) != 0;
    s.publish_batch = (i & 2) != 0 ? 2 : 1;
    s.flush_batch = (i & 4) != 0 ? 2 : 1;
    s.delayed_callback = (i & 8) != 0;
    // One chain of two descriptors fills the ring: there is nothing to batch or to delay.
    if (s.two_descriptors && i > 1) continue;
    all.push_back(s);
  }
  return all;
}

// Two requests fill the ring, the third uses a slot again; with and without a wrap of the indices.
std::vector<Scenario> all_scenarios() {
  std::vector<Scenario> all;
  for (const bool event_idx : {false, true}) {
    std::ranges::copy(scenarios(event_idx, 0, 2), std::back_inserter(all));
    std::ranges::copy(scenarios(event_idx, 65535, 2), std::back_inserter(all));
#ifndef VRINGLAB_TSAN  // one thread only, and slow
    std::ranges::copy(scenarios(event_idx, 65535, 3), std::back_inserter(all));
#endif
  }
  return all;
}

class Interleavings : public testing::TestWithParam<Scenario> {};

TEST_P(Interleavings, lose_nothing) {
  // Doorbells that order nothing: the rings must do without.
  const Outcome outcome = explore(GetParam(), false);
  EXPECT_EQ(outcome.violation, "") << format(outcome.trace);
  EXPECT_GT(outcome.executions, 100);
  std::printf("%zu states stand for %.3g executions; the halves ran %zu times\n", outcome.states,
              outcome.executions, outcome.runs);
  RecordProperty("states", std::to_string(outcome.states));
  RecordProperty("executions", std::to_string(outcome.executions));
}

INSTANTIATE_TEST_SUITE_P(Order, Interleavings, testing::ValuesIn(all_scenarios()),
                         [](const auto& test) { return name_of(test.param); });

struct Removal {
  OrderPoint point;
  bool event_idx;
};

constexpr const char* kPointNames[] = {
    "DriverPublishAvail", "DriverKickDecision", "DriverReadUsed",     "DriverEnableCallback",
    "DeviceReadAvail",    "DevicePublishUsed",  "DeviceCallDecision", "DeviceEnableNotify"};
static_assert(std::size(kPointNames) == static_cast<std::size_t>(OrderPoint::kCount));

std::string name_of(const Removal& r) {
  return std::string(kPointNames[static_cast<std::size_t>(r.point)]) +
         (r.event_idx ? "_event" : "_flags");
}
// NOLINTNEXTLINE: the name that GoogleTest looks for
void PrintTo(const Removal& r, std::ostream* out) { *out << name_of(r); }

std::vector<Removal> removals() {
  std::vector<Removal> all;
  for (std::size_t i = 0; i < static_cast<std::size_t>(OrderPoint::kCount); ++i) {
    for (const bool event_idx : {false, true})
      all.push_back({static_cast<OrderPoint>(i), event_idx});
  }
  return all;
}

class OrderPointRemoved : public testing::TestWithParam<Removal> {};

// Without a full fence a half sleeps for ever, without the others one sees what is not there yet;
// even where doorbells order as much as they can.
TEST_P(OrderPointRemoved, is_found) {
  const auto [point, event_idx] = GetParam();
  Outcome outcome;
  for (Scenario scenario : scenarios(event_idx, 65535, 2)) {
    scenario.disabled = point;
    outcome = explore(scenario, true);
    if (outcome.violation.empty()) continue;
    std::printf("%s: %s\n%s", name_of(scenario).c_str(), outcome.violation.c_str(),
                format(outcome.trace).c_str());
    break;
  }
  if (kind_of(point) == OrderKind::kFull) {
    EXPECT_EQ(outcome.violation, "lost wake-up");
  } else {
    EXPECT_NE(outcome.violation.find("stale"), std::string::npos) << outcome.violation;
  }
}

INSTANTIATE_TEST_SUITE_P(Order, OrderPointRemoved, testing::ValuesIn(removals()),
                         [](const auto& test) { return name_of(test.param); });

// The model itself, on the two patterns that the ring is made of.
TEST(WeakMemory, message_passing_needs_both_fences) {
  for (const bool release : {false, true}) {
    for (const bool acquire : {false, true}) {
      const auto writer = [&](Tape& tape) {
        tape.store(0, {1});
        if (release) tape.fence(OrderKind::kRelease);
        tape.store(1, {1});
      };
      const auto reader = [&](Tape& tape) {
        if (tape.load(1).low == 0) return;
        if (acquire) tape.fence(OrderKind::kAcquire);
        tape.expect(tape.load(0).low == 1, "stale");
      };
      Explorer explorer({Program(writer), Program(reader)}, false);
      for (Location at = 0; at < kLocations; ++at) explorer.initialise(at, {});
      EXPECT_EQ(explorer.run().violation, release && acquire ? "" : "stale");
    }
  }
}

TEST(WeakMemory, store_buffering_needs_both_fences) {
  for (const bool first : {false, true}) {
    for (const bool second : {false, true}) {
      const auto half = [](Location mine, Location other, bool fenced) {
        return [=](Tape& tape) {
          tape.store(mine, {1});
          if (fenced) tape.fence(OrderKind::kFull);
          if (tape.load(other).low == 0) tape.await();
          tape.ring();
        };
      };
      Explorer explorer({Program(half(0, 1, first)), Program(half(1, 0, second))}, false);
      for (Location at = 0; at < kLocations; ++at) explorer.initialise(at, {});
      EXPECT_EQ(explorer.run().violation, first && second ? "" : "lost wake-up");
    }
  }
}

}  // namespace
}  // namespace vringlab::order
