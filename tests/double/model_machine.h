// A simulated machine of three cores around one piece of memory, for tests that
// look at what an access costs. Guest memory is all of it, at guest address 0.
#pragma once

#include <string>
#include <vector>

#include "sim/access/model_access.h"

namespace vringlab::test {

struct ModelMachine {
  static constexpr std::uint32_t kBytes = 1u << 20;

  sim::AccessPlan plan;
  std::vector<std::byte> bytes = std::vector<std::byte>(kBytes);
  GuestMemory memory{{{GuestAddr{0}, bytes}}};
  sim::CostModel costs;
  std::vector<sim::Operation> operations;
  sim::Machine machine;
  sim::Core driver_core;
  sim::Core device_core;
  sim::Core control_core;
  sim::Doorbells bells;
  sim::DeviceContext context{.core = &device_core, .bells = &bells};

  explicit ModelMachine(const sim::AccessPlan& access, const char* kernel = "v5.0",
                        const std::vector<sim::CostOverride>& overrides = {})
      : plan(access),
        costs(resolve_costs(sim::find_host("broadwell-2.6"), sim::find_kernel(kernel), overrides)),
        operations(build_operations(plan, sim::find_kernel(kernel), costs, {})),
        machine(costs, sim::Coherence(kBytes / 64, 3, sim::find_host("broadwell-2.6")),
                bytes.data()),
        driver_core(machine, 0, operations, kPages),
        device_core(machine, 1, operations, kPages),
        control_core(machine, 2, operations, kPages) {
    context.set_unmapped(plan, false);
  }
  ModelMachine(const ModelMachine&) = delete;

  RingAreas areas(const QueueConfig& ring) const {
    const auto mapped = map_ring_areas(memory, ring);
    if (!mapped.ok()) throw std::logic_error(std::string(describe(mapped.error())));
    return mapped.value();
  }

 private:
  static constexpr std::uint32_t kPages = sim::mapped_page(kBytes) + 1;
};

// How often a cost occurred on a core, in one step or in all.
inline std::uint64_t occurrences(const sim::Core& core, sim::Cost cost, sim::Step step) {
  return core.ledger().at(cost, step).count;
}
inline std::uint64_t occurrences(const sim::Core& core, sim::Cost cost) {
  const sim::Ledger ledger = core.ledger();
  std::uint64_t sum = 0;
  for (std::size_t step = 0; step < sim::kSteps; ++step)
    sum += ledger.at(cost, static_cast<sim::Step>(step)).count;
  return sum;
}

}  // namespace vringlab::test
