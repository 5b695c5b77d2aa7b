#include "sim/machine/core.h"

#include <cmath>

#include "sim/machine/recorder.h"

namespace vringlab::sim {
namespace {

std::uint64_t share(double part, std::uint64_t ps) {
  return static_cast<std::uint64_t>(std::llround(part * static_cast<double>(ps)));
}

Event load_event(Level level) {
  return static_cast<Event>(static_cast<std::size_t>(Event::kLoad) +
                            static_cast<std::size_t>(level));
}
Event store_event(Level level) {
  return static_cast<Event>(static_cast<std::size_t>(Event::kStore) +
                            static_cast<std::size_t>(level));
}

// What an event is in the ledger.
Cost cost_of(std::size_t event) {
  if (event < static_cast<std::size_t>(Event::kStore)) return cost_of(static_cast<Level>(event));
  switch (static_cast<Event>(event)) {
    case Event::kLineStream:
      return Cost::kLineStream;
    case Event::kRemoteHome:
      return Cost::kRemoteHome;
    case Event::kStlbHit:
    case Event::kPageWalk:
      return Cost::kTlb;
    default:
      return Cost::kStoreMiss;
  }
}

}  // namespace

Machine::Machine(const CostModel& model, Coherence lines, const std::byte* memory)
    : costs(model), coherence(std::move(lines)), arena(memory) {
  const auto price = [this](Event event) -> std::uint64_t& {
    return event_ps[static_cast<std::size_t>(event)];
  };
  for (std::size_t i = 1; i < latency_ps.size(); ++i) {
    const auto level = static_cast<Level>(i);
    latency_ps[i] = costs[cost_of(level)];
    price(load_event(level)) = latency_ps[i] - share(costs.ooo_overlap, latency_ps[i]);
    price(store_event(level)) = share(costs.store_exposed, latency_ps[i]);
  }
  const std::uint64_t extra = costs[Cost::kRemoteHome];
  price(Event::kRemoteHome) = extra - share(costs.ooo_overlap, extra);
  price(Event::kLineStream) = costs[Cost::kLineStream];
  price(Event::kStlbHit) = costs.stlb_hit_ps;
  price(Event::kPageWalk) = costs.page_walk_ps;
  copy_ps_per_byte_q16 = static_cast<std::uint64_t>(std::llround(costs.copy_ps_per_byte * 65536));
}

Core::Core(Machine& machine, CoreId id, std::span<const Operation> operations, std::uint32_t pages)
    : l1_(machine.coherence.caches(id).l1()),
      arena_(machine.arena),
      arena_bytes_(machine.coherence.lines() * 64),
      tlb_(pages),
      caches_(&machine.coherence.caches(id)),
      machine_(&machine),
      id_(id),
      table_(operations) {
  for (const Operation& o : operations)
    operations_.push_back({o.lead_ps, o.tail_ps, o.lead_ps + o.tail_ps, 0, o.step, o.drains});
  hot_ = operations_.data();
  for (std::size_t event = 0; event < kEvents; ++event) events_[event].ps = machine.event_ps[event];
  if (Recorder* recorder = Recorder::current()) recorder->add(*this);
}

void Core::drain(Step step) {
  if (outstanding_ps_ > clock_ps_) charge(Cost::kBarrierDrain, step, outstanding_ps_ - clock_ps_);
}

// Part of the latency is waited for, part goes on while the core does.
inline void Core::wait_for(Level level, LineId line, Step step) {
  std::uint64_t done = clock_ps_ + machine_->latency_ps[static_cast<std::size_t>(level)];
  count(load_event(level), step);
  if (level >= Level::kDram && line - machine_->remote_begin < machine_->remote_lines)
      [[unlikely]] {
    done += machine_->costs[Cost::kRemoteHome];
    count(Event::kRemoteHome, step);
  }
  outstanding_ps_ = std::max(outstanding_ps_, done);
}

void Core::load_miss(LineId line, Step step) {
  Coherence& lines = machine_->coherence;
  if (lines.read_l2(*caches_, line)) return wait_for(Level::kL2, line, step);
  if (!lines.modified_elsewhere(*caches_, line)) return load_unmodified(line, step);
  load_modified(line, step);
}

[[gnu::noinline]] void Core::load_modified(LineId line, Step step) {
  wait_for(machine_->coherence.read_modified(*caches_, line), line, step);
}

[[gnu::noinline]] void Core::load_unmodified(LineId line, Step step) {
  wait_for(machine_->coherence.read_unmodified(*caches_, line), line, step);
}

void Core::load_many(LineId first, LineId last, Step step) {
  bool streaming = false;
  for (LineId line = first; line <= last; ++line) {
    const Level level = machine_->coherence.read(*caches_, line);
    if (level == Level::kL1) continue;
    if (streaming && level != Level::kL2) {
      count(Event::kLineStream, step);
    } else {
      wait_for(level, line, step);
      streaming = level != Level::kL2;
    }
  }
}

void Core::store_miss(LineId line, Step step) {
  Coherence& lines = machine_->coherence;
  const unsigned others = lines.others(*caches_, line);
  if (others == 0) return store_unshared(line, step);
  if ((others & (others - 1)) != 0) return store_contended(line, step);
  count(store_event(lines.write_from_one(*caches_, line, others)), step);
}

void Core::store_many(LineId first, LineId last, Step step) {
  Coherence& lines = machine_->coherence;
  for (LineId line = first; line <= last; ++line) {
    if (l1_.writes(line)) continue;
    const unsigned others = lines.others(*caches_, line);
    if ((others & (others - 1)) != 0) {
      store_contended(line, step);
    } else if (others == 0) {
      const Level level = lines.write_unshared(*caches_, line);
      if (level != Level::kL1) count(store_event(level), step);
    } else {
      count(store_event(lines.write_from_one(*caches_, line, others)), step);
    }
  }
}

[[gnu::noinline]] void Core::store_unshared(LineId line, Step step) {
  const Level level = machine_->coherence.write_unshared(*caches_, line);
  if (level != Level::kL1) count(store_event(level), step);
}

[[gnu::noinline]] void Core::store_contended(LineId line, Step step) {
  count(store_event(machine_->coherence.write(*caches_, line)), step);
}

void Core::tlb_miss(std::uint32_t page, Step step) {
  count(tlb_.fill(page) ? Event::kStlbHit : Event::kPageWalk, step);
}

Ledger Core::ledger() const {
  Ledger all = ledger_;
  for (std::size_t op = 0; op < operations_.size(); ++op) {
    const std::uint64_t count = operations_[op].count;
    if (count == 0) continue;
    for (const Operation::Part& part : table_[op].parts)
      all.add(part.cost, part.step, part.ps * count, part.count * count);
  }
  for (std::size_t event = 0; event < kEvents; ++event) {
    for (std::size_t step = 0; step < kSteps; ++step) {
      const std::uint64_t times = events_[event].times[step];
      if (times > 0)
        all.add(cost_of(event), static_cast<Step>(step), events_[event].ps * times, times);
    }
  }
  return all;
}

}  // namespace vringlab::sim
