#include "sim/machine/coherence.h"

namespace vringlab::sim {

Coherence::Coherence(std::uint32_t lines, CoreId cores, const HostPreset& host)
    : lines_(lines), l3_(line_sets(host.l3_bytes, 16)) {
  private_.reserve(cores);
  for (CoreId core = 0; core < cores; ++core) private_.emplace_back(core, lines, host);
  levels_.fill(level_of(Distance::kSameSocket));
  for (CoreId core = 0; core < kMaxCores; ++core)
    levels_[pair(core, core)] = level_of(Distance::kSameCore);
}

}  // namespace vringlab::sim
