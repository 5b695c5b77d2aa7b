#include "sim/machine/recorder.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace vringlab::sim {
namespace {

std::uint64_t step_ps(const Ledger& ledger, Step step) {
  std::uint64_t sum = 0;
  for (std::size_t cost = 0; cost < kCosts; ++cost)
    sum += ledger.at(static_cast<Cost>(cost), step).ps;
  return sum;
}

}  // namespace

void Recorder::add(const Core& core) {
  seen_.push_back({.core = &core, .ledger = {}});
  trace_.cores.emplace_back();
}

void Recorder::flush_all() {
  for (std::uint32_t i = 0; i < seen_.size(); ++i) flush(i);
}

void Recorder::finish(const Core& core, std::string name) {
  const std::uint32_t number = number_of(core);
  flush(number);
  trace_.cores[number] = std::move(name);
}

void Recorder::flow(TraceFlowKind kind, const Core& from, std::uint64_t at_ps, const Core& to) {
  trace_.flows.push_back({kind, number_of(from), number_of(to), at_ps});
}

void Recorder::kick(std::uint64_t at_ps, const Core& to) {
  flush_all();
  const auto last = std::find_if(trace_.slices.rbegin(), trace_.slices.rend(),
                                 [](const TraceSlice& s) { return s.step == Step::kGuestKick; });
  if (last != trace_.slices.rend())
    trace_.flows.push_back({TraceFlowKind::kKick, last->core, number_of(to), at_ps});
}

// Idle time comes before what a core does when it goes on, so the busy part is the end.
void Recorder::flush(std::uint32_t number) {
  Seen& seen = seen_[number];
  const std::uint64_t busy_ps = seen.core->busy_ps();
  if (busy_ps == seen.busy_ps) return;
  const Ledger now = seen.core->ledger();
  std::uint64_t start_ps = seen.core->now() - (busy_ps - seen.busy_ps);
  for (std::size_t i = 0; i < kSteps; ++i) {
    const auto step = static_cast<Step>(i);
    const std::uint64_t ps = step_ps(now, step) - step_ps(seen.ledger, step);
    if (ps == 0) continue;
    add_slice(number, step, start_ps, seen.ledger, now);
    trace_.slices.back().ps = ps;
    start_ps += ps;
  }
  seen.busy_ps = busy_ps;
  seen.ledger = now;
}

void Recorder::add_slice(std::uint32_t number, Step step, std::uint64_t start_ps,
                         const Ledger& before, const Ledger& now) {
  if (trace_.slices.size() == kMaxSlices)
    throw std::invalid_argument("trace: more than 500000 slices: trace a shorter run");
  const auto first = static_cast<std::uint32_t>(trace_.parts.size());
  for (std::size_t i = 0; i < kCosts; ++i) {
    const auto cost = static_cast<Cost>(i);
    const LedgerCell& old = before.at(cost, step);
    const LedgerCell& cell = now.at(cost, step);
    if (cell.ps != old.ps) trace_.parts.push_back({cost, cell.ps - old.ps, cell.count - old.count});
  }
  const auto parts = static_cast<std::uint32_t>(trace_.parts.size()) - first;
  trace_.slices.push_back({number, step, start_ps, 0, first, parts});
}

std::uint32_t Recorder::number_of(const Core& core) const {
  const auto found = std::ranges::find(seen_, &core, &Seen::core);
  if (found == seen_.end()) throw std::logic_error("recorder: a core that it does not know");
  return static_cast<std::uint32_t>(found - seen_.begin());
}

}  // namespace vringlab::sim
