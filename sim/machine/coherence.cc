#include "sim/machine/coherence.h"

#include <algorithm>

namespace vringlab::sim {

Coherence::Coherence(std::uint32_t lines, CoreId cores, const HostPreset& host)
    : lines_(lines),
      private_(cores, PrivateCaches(lines, host)),
      distances_(std::size_t{kMaxCores} * kMaxCores, Distance::kSameSocket),
      l3_(line_sets(host.l3_bytes, 16)) {
  for (CoreId core = 0; core < kMaxCores; ++core)
    distances_[pair(core, core)] = Distance::kSameCore;
}

void Coherence::set_distance(CoreId a, CoreId b, Distance distance) {
  distances_[pair(a, b)] = distances_[pair(b, a)] = distance;
}

Level Coherence::read_shared(CoreId core, LineId line) {
  Line& state = lines_[line];
  const CoreId modifier = state.modifier;
  state.sharers = static_cast<std::uint16_t>(state.sharers | bit(core));
  private_[core].fill(line, modifier == core);
  if (modifier == kNobody || modifier == core) return shared_level(state, line);
  private_[modifier].stop_modifying(line);
  state.modifier = kNobody;  // both share a clean copy now, and so does L3
  if (!l3_.holds(line, state.l3)) state.l3 = l3_.fill(line);
  return transfer(distance(core, modifier));
}

Level Coherence::write_shared(CoreId core, LineId line) {
  Line& state = lines_[line];
  PrivateCaches& own = private_[core];
  const unsigned others = state.sharers & ~unsigned{bit(core)};
  state.sharers = bit(core);
  state.modifier = core;
  Level level = Level::kL1;  // held and shared with nobody: no message, no wait
  if (others != 0) level = transfer(invalidate(core, line, others));
  if (own.l1_reads(line)) {
    own.start_modifying(line);
  } else if (others == 0 && own.refill_l1(line)) {
    own.start_modifying(line);
    level = Level::kL2;
  } else {
    if (others == 0) level = shared_level(state, line);
    own.fill(line, true);
  }
  return level;
}

// Invalidations go out in parallel: the farthest answer counts.
Distance Coherence::invalidate(CoreId core, LineId line, unsigned sharers) {
  auto worst = Distance::kSameCore;
  for (; sharers != 0; sharers &= sharers - 1) {
    const auto other = static_cast<CoreId>(std::countr_zero(sharers));
    private_[other].invalidate(line);
    worst = std::max(worst, distance(core, other));
  }
  return worst;
}

}  // namespace vringlab::sim
