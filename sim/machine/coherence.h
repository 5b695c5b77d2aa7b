// Who holds which cache line. Answers, for each access of a core, from how far
// the line comes; keeps each core's L1 and L2 and the shared L3 by tags.
//
// States follow MESI as far as cost can tell: a line has at most one modifier,
// or any number of sharers. A read of a line that another core modified makes
// both sharers; a write makes the writer the modifier and everybody else miss.
// An invalidated line leaves its way empty until the set has gone round.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/cost/names.h"
#include "sim/cost/presets.h"
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

// L1 and L2 of one core. A line that another core took away has no numbers here,
// so that a number that is held is a valid copy.
class PrivateCaches {
 public:
  PrivateCaches(std::uint32_t lines, const HostPreset& host)
      : l1_copies_(lines),
        l2_numbers_(lines),
        l1_(line_sets(host.l1_bytes, 8)),
        l2_(line_sets(host.l2_bytes, 8)) {}

  // May this core use `line` from its L1, for reading or for writing?
  bool l1_reads(LineId line) const { return l1_.holds(line, l1_copies_[line].reads); }
  bool l1_writes(LineId line) const { return l1_.holds(line, l1_copies_[line].writes); }
  bool l2_holds(LineId line) const { return l2_.holds(line, l2_numbers_[line]); }

  // The line may be read; a first store asks the protocol whether it may be written.
  void fill_l1(LineId line) { l1_copies_[line] = {l1_.fill(line), 0}; }
  void fill(LineId line) {
    l2_numbers_[line] = l2_.fill(line);
    fill_l1(line);
  }
  void start_modifying(LineId line) { l1_copies_[line].writes = l1_copies_[line].reads; }
  void stop_modifying(LineId line) { l1_copies_[line].writes = 0; }
  void invalidate(LineId line) {
    l1_copies_[line] = {};
    l2_numbers_[line] = 0;
  }

 private:
  struct L1Copy {
    FillNumber reads = 0;
    FillNumber writes = 0;  // the same number once this core is known to be the modifier
  };
  std::vector<L1Copy> l1_copies_;       // by line
  std::vector<FillNumber> l2_numbers_;  // by line
  FifoTags<8> l1_;
  FifoTags<8> l2_;
};

class Coherence {
 public:
  static constexpr CoreId kMaxCores = 16;

  // All pairs of cores start at kSameSocket.
  Coherence(std::uint32_t lines, CoreId cores, const HostPreset& host);

  void set_distance(CoreId a, CoreId b, Distance distance);
  PrivateCaches& caches(CoreId core) { return private_[core]; }

  // An access that L1 can't serve by itself: where the line comes from. The core
  // holds it afterwards, after a write as its modifier.
  Level read_miss(CoreId core, LineId line) {
    PrivateCaches& own = private_[core];
    if (!own.l2_holds(line)) return read_beyond_l2(core, line);
    own.fill_l1(line);
    return Level::kL2;
  }
  Level write_miss(CoreId core, LineId line);

  Level read(CoreId core, LineId line) {
    return private_[core].l1_reads(line) ? Level::kL1 : read_miss(core, line);
  }
  Level write(CoreId core, LineId line) {
    return private_[core].l1_writes(line) ? Level::kL1 : write_miss(core, line);
  }

 private:
  static constexpr CoreId kNobody = 0xff;

  struct Line {
    FillNumber l3 = 0;
    std::uint16_t sharers = 0;  // bit per core with a valid copy, the modifier's too
    CoreId modifier = kNobody;  // core whose copy is newer than memory
  };

  static std::uint16_t bit(CoreId core) { return static_cast<std::uint16_t>(1u << core); }
  static Level transfer(Distance distance) {
    constexpr Level kLevel[] = {Level::kL2, Level::kCcx, Level::kSocket, Level::kRemote};
    return kLevel[static_cast<std::size_t>(distance)];
  }
  static std::size_t pair(CoreId a, CoreId b) { return std::size_t{a} * kMaxCores + b; }
  Distance distance(CoreId a, CoreId b) const { return distances_[pair(a, b)]; }

  // A line that nobody else holds modified: from this core's caches or the shared one.
  Level near_level(CoreId core, LineId line);
  Level shared_level(Line& state, LineId line);
  Level read_beyond_l2(CoreId core, LineId line);
  // Takes the line from `sharers`; the distance of the farthest.
  Distance invalidate(CoreId core, LineId line, unsigned sharers);

  std::vector<Line> lines_;
  std::vector<PrivateCaches> private_;  // by core
  std::vector<Distance> distances_;     // kMaxCores x kMaxCores
  FifoTags<16> l3_;
};

}  // namespace vringlab::sim
