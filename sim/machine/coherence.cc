#include "sim/machine/coherence.h"

#include <algorithm>

namespace vringlab::sim {

Coherence::Coherence(std::uint32_t lines, CoreId cores, const HostPreset& host)
    : lines_(lines),
      private_(cores, PrivateCaches(lines, host)),
      distances_(std::size_t{kMaxCores} * kMaxCores, Distance::kSameSocket),
      l3_(line_tags(host.l3_bytes, 16)) {
  for (CoreId core = 0; core < kMaxCores; ++core)
    distances_[pair(core, core)] = Distance::kSameCore;
}

void Coherence::set_distance(CoreId a, CoreId b, Distance distance) {
  distances_[pair(a, b)] = distances_[pair(b, a)] = distance;
}

Level Coherence::private_level(CoreId core, LineId line) {
  PrivateCaches& own = private_[core];
  if (own.l1_reads(line)) return Level::kL1;
  if (own.l2_holds(line)) {
    own.fill_l1(line);
    return Level::kL2;
  }
  own.fill(line);
  return shared_level(line);
}

Level Coherence::shared_level(LineId line) {
  if (l3_.holds(line, lines_[line].l3)) return Level::kL3;
  lines_[line].l3 = l3_.fill(line);
  return Level::kDram;
}

Level Coherence::read_miss(CoreId core, LineId line) {
  Line& state = lines_[line];
  if ((state.sharers & bit(core)) != 0) return private_level(core, line);
  Level level = Level::kL3;
  if (state.modifier != kNobody) {
    level = transfer(distance(core, state.modifier));
    private_[state.modifier].set_writable(line, false);
    state.modifier = kNobody;  // both share a clean copy now, and so does L3
    if (!l3_.holds(line, state.l3)) state.l3 = l3_.fill(line);
  } else {
    level = shared_level(line);
  }
  state.sharers = static_cast<std::uint16_t>(state.sharers | bit(core));
  private_[core].fill(line);
  return level;
}

Level Coherence::write_miss(CoreId core, LineId line) {
  Line& state = lines_[line];
  if (state.modifier == core) return private_level(core, line);
  Level level = Level::kL3;
  if ((state.sharers & ~bit(core)) != 0) {
    level = transfer(invalidate_others(core, line));
    if ((state.sharers & bit(core)) == 0 || !private_[core].l1_reads(line))
      private_[core].fill(line);
  } else if ((state.sharers & bit(core)) != 0) {
    level = private_level(core, line);  // the only holder: no message to anybody
  } else {
    level = shared_level(line);
    private_[core].fill(line);
  }
  state.sharers = bit(core);
  state.modifier = core;
  private_[core].set_writable(line, true);
  return level;
}

// Invalidations go out in parallel: the farthest answer counts.
Distance Coherence::invalidate_others(CoreId core, LineId line) {
  auto worst = Distance::kSameCore;
  const auto sharers = static_cast<unsigned>(lines_[line].sharers & ~bit(core));
  for (unsigned left = sharers; left != 0; left &= left - 1) {
    const auto other = static_cast<CoreId>(std::countr_zero(left));
    private_[other].invalidate(line);
    worst = std::max(worst, distance(core, other));
  }
  return worst;
}

}  // namespace vringlab::sim
