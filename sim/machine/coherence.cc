#include "sim/machine/coherence.h"

namespace vringlab::sim {

Coherence::Coherence(std::uint32_t lines, CoreId cores, const HostPreset& host)
    : lines_(lines),
      private_(cores, PrivateCaches(lines, host)),
      levels_(std::size_t{kMaxCores} * kMaxCores, level_of(Distance::kSameSocket)),
      l3_(line_sets(host.l3_bytes, 16)) {
  for (CoreId core = 0; core < kMaxCores; ++core)
    levels_[pair(core, core)] = level_of(Distance::kSameCore);
}

}  // namespace vringlab::sim
