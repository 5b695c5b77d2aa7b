#include "measure/probe.h"

#ifdef __linux__
#include <sched.h>
#endif

#include <stdexcept>

namespace vringlab::measure {

#ifdef __linux__
Pinned::Pinned(int cpu) : before_(sizeof(cpu_set_t)) {
  cpu_set_t now;
  CPU_ZERO(&now);
  CPU_SET(static_cast<std::size_t>(cpu), &now);
  if (sched_getaffinity(0, before_.size(), reinterpret_cast<cpu_set_t*>(before_.data())) != 0 ||
      sched_setaffinity(0, sizeof(now), &now) != 0)
    throw std::runtime_error("processor " + std::to_string(cpu) + ": can't be pinned to");
}
Pinned::~Pinned() {
  sched_setaffinity(0, before_.size(), reinterpret_cast<cpu_set_t*>(before_.data()));
}
#else
Pinned::Pinned(int) {}
Pinned::~Pinned() = default;
#endif

std::vector<Probe> probes() {
  std::vector<Probe> all;
  add_instructions(all);
  add_copies(all);
  add_threads(all);
  add_system(all);
  return all;
}

std::vector<Reading> readings(const Probe& probe, Meter& meter, const Place& place,
                              std::uint32_t count) {
  const Pinned pinned(place.first_cpu);
  (void)probe.run(meter, place, probe.operations);
  std::vector<Reading> all;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Reading sum = probe.run(meter, place, probe.operations);
    all.push_back({sum.ns / probe.operations, sum.cycles / probe.operations});
  }
  return all;
}

}  // namespace vringlab::measure
