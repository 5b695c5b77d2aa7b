// Who holds which cache line. Answers, for each access of a core, from how far
// the line comes; keeps each core's L1 and L2 and the shared L3 by tags.
//
// States follow MESI as far as cost can tell: a line has at most one modifier,
// or any number of sharers. A read of a line that another core modified makes
// both sharers; a write makes the writer the modifier and everybody else miss.
// An invalidated line leaves its way empty until the set has gone round.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/cost/names.h"
#include "sim/cost/presets.h"
#include "sim/machine/fifo_states.h"
#include "sim/machine/fifo_tags.h"

namespace vringlab::sim {

using LineId = std::uint32_t;
using CoreId = std::uint8_t;

// Where two cores stand to each other.
enum class Distance : std::uint8_t { kSameCore, kSameCcx, kSameSocket, kRemoteSocket };

// Where an access finds its line; each but kL1 has a latency.
enum class Level : std::uint8_t { kL1, kL2, kL3, kDram, kCcx, kSocket, kRemote, kCount };

constexpr Cost cost_of(Level level) {
  constexpr Cost kCost[] = {Cost::kPlainAccess,   Cost::kL2Hit,       Cost::kL3Hit,
                            Cost::kDram,          Cost::kTransferCcx, Cost::kTransferSocket,
                            Cost::kTransferRemote};
  return kCost[static_cast<std::size_t>(level)];
}

// L1 and L2 of one core. A line that another core took away has no state and no
// number here, so that one that is held is a valid copy.
class alignas(64) PrivateCaches {
 public:
  using L1 = FifoStates<8>;

  PrivateCaches(CoreId core, std::uint32_t lines, const HostPreset& host)
      : core_(core),
        copies_(lines),
        l1_(lines, line_sets(host.l1_bytes, 8)),
        l2_(line_sets(host.l2_bytes, 8)) {}

  CoreId core() const { return core_; }

  // May this core use a line from its L1, for reading or for writing? Valid as
  // long as the caches, wherever they are moved.
  L1::View l1() const { return l1_.view(); }
  bool l1_reads(LineId line) const { return l1_.reads(line); }
  bool l1_writes(LineId line) const { return l1_.writes(line); }

  // Brings a line that L2 holds into L1; false: L2 holds it no more.
  bool refill_l1(LineId line) {
    const Copy copy = copies_[line];
    if (!l2_.holds(line, copy.l2)) return false;
    l1_.fill(line, copy.modified);
    return true;
  }
  void fill(LineId line, bool modified) {
    l1_.fill(line, modified);
    copies_[line] = {l2_.fill(line), modified};
  }
  // Of a line in L1.
  void start_modifying(LineId line) {
    copies_[line].modified = true;
    l1_.allow_writes(line);
  }
  void stop_modifying(LineId line) {
    copies_[line].modified = false;
    l1_.forbid_writes(line);
  }
  bool modifies(LineId line) const { return copies_[line].modified; }
  void invalidate(LineId line) {
    copies_[line] = {};
    l1_.invalidate(line);
  }

 private:
  struct Copy {
    FillNumber l2 = 0;
    bool modified = false;  // this core is the line's modifier
  };
  CoreId core_;               // whose these are
  std::vector<Copy> copies_;  // by line
  L1 l1_;                     // writable while this core is the line's modifier
  FifoTags<8> l2_;
};

class Coherence {
 public:
  static constexpr CoreId kMaxCores = 16;

  // All pairs of cores start at kSameSocket.
  Coherence(std::uint32_t lines, CoreId cores, const HostPreset& host);

  void set_distance(CoreId a, CoreId b, Distance distance) {
    levels_[pair(a, b)] = levels_[pair(b, a)] = level_of(distance);
  }
  PrivateCaches& caches(CoreId core) { return private_[core]; }
  std::size_t lines() const { return lines_.size(); }

  // An access that the core's own caches can't serve: where the line comes from.
  // The core holds it afterwards, after a write as its modifier.
  Level read_shared(PrivateCaches& own, LineId line);
  Level write_shared(PrivateCaches& own, LineId line);

  Level read(PrivateCaches& own, LineId line) {
    if (own.l1_reads(line)) return Level::kL1;
    return own.refill_l1(line) ? Level::kL2 : read_shared(own, line);
  }
  Level write(PrivateCaches& own, LineId line) {
    if (own.l1_writes(line)) return Level::kL1;
    return own.modifies(line) && own.refill_l1(line) ? Level::kL2 : write_shared(own, line);
  }

 private:
  static constexpr CoreId kNobody = 0xff;

  struct Line {
    FillNumber l3 = 0;
    std::uint16_t sharers = 0;  // bit per core with a valid copy, the modifier's too
    CoreId modifier = kNobody;  // core whose copy is newer than memory
  };

  static std::uint16_t bit(CoreId core) { return static_cast<std::uint16_t>(1u << core); }
  static Level level_of(Distance distance) {
    constexpr Level kLevel[] = {Level::kL2, Level::kCcx, Level::kSocket, Level::kRemote};
    return kLevel[static_cast<std::size_t>(distance)];
  }
  static std::size_t pair(CoreId a, CoreId b) { return std::size_t{a} * kMaxCores + b; }
  // Of a line that comes from the other core; a greater distance is a greater level.
  Level transfer(CoreId a, CoreId b) const { return levels_[pair(a, b)]; }

  Level shared_level(Line& state, LineId line) {
    if (l3_.holds(line, state.l3)) return Level::kL3;
    state.l3 = l3_.fill(line);
    return Level::kDram;
  }
  // Takes the line from `sharers`. Invalidations go out in parallel: the level of
  // the farthest counts.
  Level invalidate(CoreId core, LineId line, unsigned sharers) {
    Level worst = Level::kL1;
    for (; sharers != 0; sharers &= sharers - 1) {
      const auto other = static_cast<CoreId>(std::countr_zero(sharers));
      private_[other].invalidate(line);
      worst = std::max(worst, transfer(core, other));
    }
    return worst;
  }

  std::vector<Line> lines_;
  std::vector<PrivateCaches> private_;                            // by core
  std::array<Level, std::size_t{kMaxCores} * kMaxCores> levels_;  // of a transfer, by pair
  FifoTags<16> l3_;
};

// These two are inlined by force: each miss runs one of them, and a call of this
// many registers costs half of what they do.
[[gnu::always_inline]] inline Level Coherence::read_shared(PrivateCaches& own, LineId line) {
  Line& state = lines_[line];
  const CoreId core = own.core();
  const CoreId modifier = state.modifier;
  state.sharers = static_cast<std::uint16_t>(state.sharers | bit(core));
  own.fill(line, modifier == core);
  if (modifier == kNobody || modifier == core) return shared_level(state, line);
  private_[modifier].stop_modifying(line);
  state.modifier = kNobody;  // both share a clean copy now, and so does L3
  if (!l3_.holds(line, state.l3)) state.l3 = l3_.fill(line);
  return transfer(core, modifier);
}

[[gnu::always_inline]] inline Level Coherence::write_shared(PrivateCaches& own, LineId line) {
  Line& state = lines_[line];
  const CoreId core = own.core();
  const unsigned others = state.sharers & ~unsigned{bit(core)};
  state.sharers = bit(core);
  state.modifier = core;
  Level level = Level::kL1;  // held and shared with nobody: no message, no wait
  if (others != 0) level = invalidate(core, line, others);
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

}  // namespace vringlab::sim
