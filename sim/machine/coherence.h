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
        bit_(static_cast<std::uint16_t>(1u << core)),
        numbers_(lines),
        l1_(lines, line_sets(host.l1_bytes, 8)),
        l2_(line_sets(host.l2_bytes, 8)) {}

  CoreId core() const { return core_; }
  std::uint16_t bit() const { return bit_; }  // of the core in a set of cores

  // May this core use a line from its L1, for reading or for writing? Valid as
  // long as the caches, wherever they are moved.
  L1::View l1() const { return l1_.view(); }
  bool l1_reads(LineId line) const { return l1_.reads(line); }
  bool l1_writes(LineId line) const { return l1_.writes(line); }
  bool l2_holds(LineId line) const { return l2_.holds(line, numbers_[line]); }

  // Of a line that is not in L1; `modified`: this core is its modifier.
  void refill_l1(LineId line, bool modified) { l1_.fill(line, modified); }
  void fill(LineId line, bool modified) {
    l1_.fill(line, modified);
    numbers_[line] = l2_.fill(line);
  }
  // Of a line in L1.
  void start_modifying(LineId line) { l1_.allow_writes(line); }
  void stop_modifying(LineId line) { l1_.forbid_writes(line); }
  void invalidate(LineId line) {
    numbers_[line] = 0;
    l1_.invalidate(line);
  }

 private:
  CoreId core_;                      // whose these are
  std::uint16_t bit_;                // 1 << core_
  std::vector<FillNumber> numbers_;  // of the line in L2, by line
  L1 l1_;                            // writable while this core is the line's modifier
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

  // Accesses that L1 does not allow, by who else has the line: where it comes from. The
  // core holds it afterwards, after a write as its modifier.
  //
  // A read: true, L2 has it. Else from the other core that modified it, or from L3 or memory.
  bool read_l2(PrivateCaches& own, LineId line) {
    if (!own.l2_holds(line)) return false;
    own.refill_l1(line, lines_[line].modifier == own.core());
    return true;
  }
  bool modified_elsewhere(const PrivateCaches& own, LineId line) const {
    const CoreId modifier = lines_[line].modifier;
    return modifier != kNobody && modifier != own.core();
  }
  Level read_modified(PrivateCaches& own, LineId line);
  Level read_unmodified(PrivateCaches& own, LineId line);
  // A write of a line that nobody else has, one other core, or several.
  unsigned others(const PrivateCaches& own, LineId line) const {
    return lines_[line].sharers & ~unsigned{own.bit()};
  }
  Level write_unshared(PrivateCaches& own, LineId line);
  Level write_from_one(PrivateCaches& own, LineId line, unsigned other);
  Level write_from_several(PrivateCaches& own, LineId line, unsigned others);

  Level read(PrivateCaches& own, LineId line) {
    if (own.l1_reads(line)) return Level::kL1;
    if (read_l2(own, line)) return Level::kL2;
    return modified_elsewhere(own, line) ? read_modified(own, line) : read_unmodified(own, line);
  }
  Level write(PrivateCaches& own, LineId line) {
    if (own.l1_writes(line)) return Level::kL1;
    const unsigned sharers = others(own, line);
    if (sharers == 0) return write_unshared(own, line);
    return (sharers & (sharers - 1)) == 0 ? write_from_one(own, line, sharers)
                                          : write_from_several(own, line, sharers);
  }

 private:
  static constexpr CoreId kNobody = 0xff;

  struct Line {
    FillNumber l3 = 0;
    std::uint16_t sharers = 0;  // bit per core with a valid copy, the modifier's too
    CoreId modifier = kNobody;  // core whose copy is newer than memory
  };

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
  // Takes the line from the one core that `sharer` is the bit of.
  Level invalidate(CoreId core, LineId line, unsigned sharer) {
    const auto other = static_cast<CoreId>(std::countr_zero(sharer));
    private_[other].invalidate(line);
    return transfer(core, other);
  }
  void own_it(PrivateCaches& own, LineId line) {
    lines_[line].sharers = own.bit();
    lines_[line].modifier = own.core();
  }
  // What the last step of a write is where others had the line.
  void hold_modified(PrivateCaches& own, LineId line) {
    if (own.l1_reads(line)) {
      own.start_modifying(line);
    } else {
      own.fill(line, true);
    }
  }

  std::vector<Line> lines_;
  std::vector<PrivateCaches> private_;                            // by core
  std::array<Level, std::size_t{kMaxCores} * kMaxCores> levels_;  // of a transfer, by pair
  FifoTags<16> l3_;
};

// These are inlined by force: each miss runs one of them, in a function of its own that
// needs few registers and makes no call.
[[gnu::always_inline]] inline Level Coherence::read_modified(PrivateCaches& own, LineId line) {
  Line& state = lines_[line];
  const CoreId modifier = state.modifier;
  const Level level = transfer(own.core(), modifier);
  state.sharers = static_cast<std::uint16_t>(state.sharers | own.bit());
  if (!l3_.holds(line, state.l3)) state.l3 = l3_.fill(line);
  state.modifier = kNobody;  // both share a clean copy now, and so does L3
  private_[modifier].stop_modifying(line);
  own.fill(line, false);
  return level;
}

[[gnu::always_inline]] inline Level Coherence::read_unmodified(PrivateCaches& own, LineId line) {
  Line& state = lines_[line];
  state.sharers = static_cast<std::uint16_t>(state.sharers | own.bit());
  own.fill(line, state.modifier == own.core());
  return shared_level(state, line);
}

// Held and shared with nobody: no message, no wait.
[[gnu::always_inline]] inline Level Coherence::write_unshared(PrivateCaches& own, LineId line) {
  own_it(own, line);
  if (own.l1_reads(line)) {
    own.start_modifying(line);
    return Level::kL1;
  }
  if (own.l2_holds(line)) {
    own.refill_l1(line, true);
    return Level::kL2;
  }
  own.fill(line, true);
  return shared_level(lines_[line], line);
}

[[gnu::always_inline]] inline Level Coherence::write_from_one(PrivateCaches& own, LineId line,
                                                              unsigned other) {
  const Level level = invalidate(own.core(), line, other);
  hold_modified(own, line);
  own_it(own, line);
  return level;
}

// Invalidations go out in parallel: the level of the farthest counts.
inline Level Coherence::write_from_several(PrivateCaches& own, LineId line, unsigned others) {
  own_it(own, line);
  Level worst = Level::kL1;
  for (; others != 0; others &= others - 1)
    worst = std::max(worst, invalidate(own.core(), line, others & -others));
  hold_modified(own, line);
  return worst;
}

}  // namespace vringlab::sim
