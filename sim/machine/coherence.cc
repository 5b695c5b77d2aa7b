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

Level Coherence::private_level(CoreId core, LineId line, bool modified) {
  PrivateCaches& own = private_[core];
  if (own.l2_holds(line)) {
    own.fill_l1(line, modified);
    return Level::kL2;
  }
  own.fill(line, modified);
  return shared_level(line);
}

Level Coherence::shared_level(LineId line) {
  if (l3_.holds(line, lines_[line].l3)) return Level::kL3;
  lines_[line].l3 = l3_.fill(line);
  return Level::kDram;
}

Level Coherence::read_miss(CoreId core, LineId line) {
  Line& state = lines_[line];
  if ((state.sharers & bit(core)) != 0) return private_level(core, line, state.modifier == core);
  Level level = Level::kL3;
  if (state.modifier != kNobody) {
    level = transfer(distance(core, state.modifier));
    private_[state.modifier].stop_modifying(line);
    state.modifier = kNobody;  // both share a clean copy now, and so does L3
    if (!l3_.holds(line, state.l3)) state.l3 = l3_.fill(line);
  } else {
    level = shared_level(line);
  }
  state.sharers = static_cast<std::uint16_t>(state.sharers | bit(core));
  private_[core].fill(line, false);
  return level;
}

Level Coherence::write_miss(CoreId core, LineId line) {
  Line& state = lines_[line];
  if (state.modifier == core) return private_level(core, line, true);
  PrivateCaches& own = private_[core];
  const bool held = (state.sharers & bit(core)) != 0;
  const unsigned others = state.sharers & ~unsigned{bit(core)};
  state.sharers = bit(core);
  state.modifier = core;
  Level level = Level::kL1;
  if (others != 0) {
    level = transfer(invalidate(core, line, others));
    if (!held) own.fill(line, true);
  } else if (!held) {
    own.fill(line, true);
    return shared_level(line);
  }
  // Held and shared, or held alone: the copy at hand becomes writable.
  if (own.l1_reads(line)) {
    own.start_modifying(line);
    return level;
  }
  return std::max(level, private_level(core, line, true));
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
