// Who holds which cache line. Answers, for each access of a core, from how far
// the line comes; keeps each core's L1 and L2 and the shared L3 by tags.
//
// States follow MESI as far as cost can tell: a line has at most one modifier,
// or any number of sharers. A read of a line that another core modified makes
// both sharers; a write makes the writer the modifier and everybody else miss.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/cost/names.h"
#include "sim/cost/presets.h"
#include "sim/machine/tags.h"

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

class Coherence {
 public:
  static constexpr CoreId kMaxCores = 16;

  // All pairs of cores start at kSameSocket.
  Coherence(std::uint32_t lines, CoreId cores, const HostPreset& host);

  void set_distance(CoreId a, CoreId b, Distance distance);

  Level read(CoreId core, LineId line) {
    Line& state = lines_[line];
    if ((state.sharers & bit(core)) != 0) return private_level(core, line);
    return read_miss(core, line, state);
  }

  // The writer becomes the only holder.
  Level write(CoreId core, LineId line) {
    Line& state = lines_[line];
    if (state.modifier == core) return private_level(core, line);
    return write_miss(core, line, state);
  }

 private:
  static constexpr CoreId kNobody = 0xff;

  struct Line {
    std::uint16_t sharers = 0;  // bit per core with a valid copy, the modifier's too
    CoreId modifier = kNobody;  // core whose copy is newer than memory
  };
  struct Private {
    Tags<8> l1;
    Tags<8> l2;
  };

  static std::uint16_t bit(CoreId core) { return static_cast<std::uint16_t>(1u << core); }
  static Level transfer(Distance distance) {
    constexpr Level kLevel[] = {Level::kL2, Level::kCcx, Level::kSocket, Level::kRemote};
    return kLevel[static_cast<std::size_t>(distance)];
  }
  static std::size_t pair(CoreId a, CoreId b) { return std::size_t{a} * kMaxCores + b; }
  Distance distance(CoreId a, CoreId b) const { return distances_[pair(a, b)]; }

  // A line this core still holds by the protocol may have left its caches.
  Level private_level(CoreId core, LineId line) {
    if (private_[core].l1.touch(line)) return Level::kL1;
    return private_[core].l2.touch(line) ? Level::kL2 : shared_level(line);
  }
  Level shared_level(LineId line) { return l3_.touch(line) ? Level::kL3 : Level::kDram; }
  Level read_miss(CoreId core, LineId line, Line& state);
  Level write_miss(CoreId core, LineId line, Line& state);
  Level farthest_sharer(CoreId core, const Line& state) const;
  void fill(CoreId core, LineId line);

  std::vector<Line> lines_;
  std::vector<Private> private_;     // by core
  std::vector<Distance> distances_;  // kMaxCores x kMaxCores
  Tags<16> l3_;
};

}  // namespace vringlab::sim
