#include "sim/machine/coherence.h"

#include <algorithm>

namespace vringlab::sim {

Coherence::Coherence(std::uint32_t lines, CoreId cores, const HostPreset& host)
    : lines_(lines),
      private_(cores, Private{Tags<8>(line_entries<8>(host.l1_bytes)),
                              Tags<8>(line_entries<8>(host.l2_bytes))}),
      distances_(std::size_t{kMaxCores} * kMaxCores, Distance::kSameSocket),
      l3_(line_entries<16>(host.l3_bytes)) {
  for (CoreId core = 0; core < kMaxCores; ++core)
    distances_[pair(core, core)] = Distance::kSameCore;
}

void Coherence::set_distance(CoreId a, CoreId b, Distance distance) {
  distances_[pair(a, b)] = distances_[pair(b, a)] = distance;
}

Level Coherence::read_miss(CoreId core, LineId line, Line& state) {
  Level level = Level::kL3;
  if (state.modifier != kNobody) {
    level = transfer(distance(core, state.modifier));
    state.modifier = kNobody;  // both share a clean copy now
    l3_.touch(line);
  } else {
    level = shared_level(line);
  }
  state.sharers = static_cast<std::uint16_t>(state.sharers | bit(core));
  fill(core, line);
  return level;
}

Level Coherence::write_miss(CoreId core, LineId line, Line& state) {
  Level level = Level::kL3;
  if (state.modifier != kNobody) {
    level = transfer(distance(core, state.modifier));
  } else if ((state.sharers & ~bit(core)) != 0) {
    level = farthest_sharer(core, state);
  } else if ((state.sharers & bit(core)) != 0) {
    level = private_level(core, line);  // only holder: no message to anybody
  } else {
    level = shared_level(line);
  }
  state = {.sharers = bit(core), .modifier = core};
  fill(core, line);
  return level;
}

// Invalidations go out in parallel: the farthest answer counts.
Level Coherence::farthest_sharer(CoreId core, const Line& state) const {
  auto worst = Distance::kSameCore;
  for (CoreId other = 0; other < private_.size(); ++other) {
    if (other != core && (state.sharers & bit(other)) != 0)
      worst = std::max(worst, distance(core, other));
  }
  return transfer(worst);
}

void Coherence::fill(CoreId core, LineId line) {
  private_[core].l1.touch(line);
  private_[core].l2.touch(line);
}

}  // namespace vringlab::sim
