#include "sim/machine/core.h"

#include <cmath>

namespace vringlab::sim {
namespace {

std::uint64_t share(double part, std::uint64_t ps) {
  return static_cast<std::uint64_t>(std::llround(part * static_cast<double>(ps)));
}

}  // namespace

Machine::Machine(const CostModel& model, Coherence lines, const std::byte* memory)
    : costs(model), coherence(std::move(lines)), arena(memory) {
  const std::uint64_t extra = costs[Cost::kRemoteHome];
  remote_exposed_ps = extra - share(costs.ooo_overlap, extra);
  copy_ps_per_byte_q16 = static_cast<std::uint64_t>(std::llround(costs.copy_ps_per_byte * 65536));
  for (std::size_t i = 1; i < latency_ps.size(); ++i) {
    latency_ps[i] = costs[cost_of(static_cast<Level>(i))];
    load_exposed_ps[i] = latency_ps[i] - share(costs.ooo_overlap, latency_ps[i]);
    store_exposed_ps[i] = share(costs.store_exposed, latency_ps[i]);
  }
}

Core::Core(Machine& machine, CoreId id, std::span<const Operation> operations, std::uint32_t pages)
    : caches_(&machine.coherence.caches(id)),
      arena_(machine.arena),
      tlb_(pages),
      machine_(&machine),
      id_(id),
      table_(operations) {
  for (const Operation& o : operations)
    operations_.push_back({o.lead_ps, o.tail_ps, 0, o.step, o.drains});
}

void Core::drain(Step step) { charge(Cost::kBarrierDrain, step, outstanding_ps_ - clock_ps_); }

void Core::load_miss(LineId line, Step step) {
  const bool near = caches_->refill_l1(line);
  wait_for(near ? Level::kL2 : machine_->coherence.read_shared(id_, line), line, step);
}

// Part of the latency is waited for, part goes on while the core does.
void Core::wait_for(Level level, LineId line, Step step) {
  const auto i = static_cast<std::size_t>(level);
  std::uint64_t done = clock_ps_ + machine_->latency_ps[i];
  charge(cost_of(level), step, machine_->load_exposed_ps[i]);
  if (line - machine_->remote_begin < machine_->remote_lines && level >= Level::kDram)
      [[unlikely]] {
    done += machine_->costs[Cost::kRemoteHome];
    charge(Cost::kRemoteHome, step, machine_->remote_exposed_ps);
  }
  outstanding_ps_ = std::max(outstanding_ps_, done);
}

void Core::load_many(LineId first, LineId last, Step step) {
  bool streaming = false;
  for (LineId line = first; line <= last; ++line) {
    const Level level = machine_->coherence.read(id_, line);
    if (level == Level::kL1) continue;
    if (streaming && level != Level::kL2) {
      charge(Cost::kLineStream, step, machine_->costs[Cost::kLineStream]);
    } else {
      wait_for(level, line, step);
      streaming = level != Level::kL2;
    }
  }
}

void Core::store_miss(LineId line, Step step) {
  const bool near = caches_->modifies(line) && caches_->refill_l1(line);
  const Level level = near ? Level::kL2 : machine_->coherence.write_shared(id_, line);
  if (level == Level::kL1) return;
  charge(Cost::kStoreMiss, step, machine_->store_exposed_ps[static_cast<std::size_t>(level)]);
}

void Core::tlb_miss(std::uint32_t page, Step step) {
  const CostModel& costs = machine_->costs;
  charge(Cost::kTlb, step, tlb_.fill(page) ? costs.stlb_hit_ps : costs.page_walk_ps);
}

Ledger Core::ledger() const {
  Ledger all = ledger_;
  for (std::size_t op = 0; op < operations_.size(); ++op) {
    const std::uint64_t count = operations_[op].count;
    if (count == 0) continue;
    for (const Operation::Part& part : table_[op].parts)
      all.add(part.cost, part.step, part.ps * count, part.count * count);
  }
  return all;
}

}  // namespace vringlab::sim
