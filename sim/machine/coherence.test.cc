#include "sim/machine/coherence.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>

#include "sim/cost/random.h"
#include "tests/double/fifo_cache.h"

namespace vringlab::sim {
namespace {

// 2, 4 and 8 sets, so that a trace of a few dozen lines evicts from all levels.
HostPreset tiny_host() {
  HostPreset host = find_host("broadwell-2.6");
  host.l1_bytes = 2 * 8 * 64;
  host.l2_bytes = 4 * 8 * 64;
  host.l3_bytes = 8 * 16 * 64;
  return host;
}

// The same machine, written plainly: sets of cores a line, caches that hold lines.
class Reference {
 public:
  Reference(CoreId cores, const HostPreset& host)
      : l1_(cores, test::FifoCache(line_sets(host.l1_bytes, 8), 8)),
        l2_(cores, test::FifoCache(line_sets(host.l2_bytes, 8), 8)),
        l3_(line_sets(host.l3_bytes, 16), 16) {}

  virtual ~Reference() = default;
  virtual Distance distance(CoreId, CoreId) const { return Distance::kSameSocket; }

  Level read(CoreId core, LineId line) {
    if (l1_[core].holds(line)) return Level::kL1;
    if (l2_[core].holds(line)) {
      l1_[core].fill(line);
      return Level::kL2;
    }
    l1_[core].fill(line);
    l2_[core].fill(line);
    State& s = lines_[line];
    s.sharers.insert(core);
    if (s.modifier && *s.modifier != core) {
      const Level level = transferred(distance(core, *s.modifier));
      s.modifier.reset();
      if (!l3_.holds(line)) l3_.fill(line);
      return level;
    }
    return from_l3(line);
  }

  Level write(CoreId core, LineId line) {
    State& s = lines_[line];
    const Level level = take(core, line, s);
    s.sharers = {core};
    s.modifier = core;
    return level;
  }

 private:
  struct State {
    std::set<CoreId> sharers;        // cores that were given the line and have not lost it
    std::optional<CoreId> modifier;  // the one whose copy is the only true one
  };

  static Level transferred(Distance d) {
    switch (d) {
      case Distance::kSameCcx:
        return Level::kCcx;
      case Distance::kRemoteSocket:
        return Level::kRemote;
      default:
        return Level::kSocket;
    }
  }

  // Others lose it: as far as the farthest of them. Else from where this core has it.
  Level take(CoreId core, LineId line, State& s) {
    s.sharers.erase(core);
    std::optional<Level> farthest;
    for (const CoreId other : s.sharers) {
      l1_[other].invalidate(line);
      l2_[other].invalidate(line);
      const Level level = transferred(distance(core, other));
      if (!farthest || level > *farthest) farthest = level;
    }
    if (!farthest) return nearest(core, line);
    if (!l1_[core].holds(line)) {
      l1_[core].fill(line);
      l2_[core].fill(line);
    }
    return *farthest;
  }

  Level nearest(CoreId core, LineId line) {
    if (l1_[core].holds(line)) return Level::kL1;
    l1_[core].fill(line);
    if (l2_[core].holds(line)) return Level::kL2;
    l2_[core].fill(line);
    return from_l3(line);
  }

  Level from_l3(LineId line) {
    if (l3_.holds(line)) return Level::kL3;
    l3_.fill(line);
    return Level::kDram;
  }

  std::vector<test::FifoCache> l1_;
  std::vector<test::FifoCache> l2_;
  test::FifoCache l3_;
  std::map<LineId, State> lines_;
};

// Cores 0 and 2 share a CCX, 3 is on the same socket, 1 on the other.
class TwoSockets : public Reference {
 public:
  using Reference::Reference;
  Distance distance(CoreId a, CoreId b) const override {
    if (a == 1 || b == 1) return Distance::kRemoteSocket;
    return a + b == 2 ? Distance::kSameCcx : Distance::kSameSocket;
  }
};

constexpr CoreId kCores = 4;

Coherence two_sockets(std::uint32_t lines, const HostPreset& host) {
  Coherence coherence(lines, kCores, host);
  const TwoSockets layout(kCores, host);
  for (CoreId a = 0; a < kCores; ++a) {
    for (CoreId b = 0; b < a; ++b) coherence.set_distance(a, b, layout.distance(a, b));
  }
  return coherence;
}

// `lines` says what is stressed: few are fought over, many overflow the caches.
void expect_reference_levels(std::uint32_t lines, std::uint64_t seed) {
  Coherence coherence = two_sockets(lines, tiny_host());
  TwoSockets reference(kCores, tiny_host());
  RandomStream random(seed);
  std::array<int, static_cast<std::size_t>(Level::kCount)> seen{};
  for (int i = 0; i < 30000; ++i) {
    const auto core = static_cast<CoreId>(random.next() % kCores);
    const auto line = static_cast<LineId>(random.next() % lines);
    const bool write = random.next() % 3 == 0;
    const Level expected = write ? reference.write(core, line) : reference.read(core, line);
    const Level level = write ? coherence.write(coherence.caches(core), line)
                              : coherence.read(coherence.caches(core), line);
    ASSERT_EQ(level, expected) << "access " << i << (write ? " writes " : " reads ") << line
                               << " on core " << int{core};
    ++seen[static_cast<std::size_t>(level)];
  }
  EXPECT_GT(seen[static_cast<std::size_t>(Level::kL1)], 0);
  EXPECT_GT(seen[static_cast<std::size_t>(Level::kCcx)], 0);
  EXPECT_GT(seen[static_cast<std::size_t>(Level::kRemote)], 0);
}

TEST(Coherence, levels_of_random_traces_are_those_of_a_plain_mesi) {
  for (const std::uint32_t lines : {3u, 20u, 60u, 300u}) {
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      SCOPED_TRACE(testing::Message() << lines << " lines, seed " << seed);
      expect_reference_levels(lines, seed);
    }
  }
}

struct Cores : testing::Test {
  Coherence coherence = two_sockets(4096, find_host("broadwell-2.6"));
};

TEST_F(Cores, first_use_comes_from_memory_then_from_l1) {
  EXPECT_EQ(coherence.read(coherence.caches(0), 5), Level::kDram);
  EXPECT_EQ(coherence.read(coherence.caches(0), 5), Level::kL1);
  EXPECT_EQ(coherence.read(coherence.caches(2), 5), Level::kL3);  // the first miss brought it there
}

TEST_F(Cores, a_modified_line_is_transferred_once_then_shared) {
  EXPECT_EQ(coherence.write(coherence.caches(0), 5), Level::kDram);
  EXPECT_EQ(coherence.read(coherence.caches(3), 5), Level::kSocket);
  EXPECT_EQ(coherence.read(coherence.caches(3), 5), Level::kL1);
  EXPECT_EQ(coherence.read(coherence.caches(0), 5), Level::kL1);
  EXPECT_EQ(coherence.read(coherence.caches(2), 5),
            Level::kL3);  // clean now: no transfer from core 0
}

TEST_F(Cores, a_write_takes_the_line_from_all_and_waits_for_the_farthest) {
  for (CoreId core = 0; core < kCores; ++core) coherence.read(coherence.caches(core), 5);
  EXPECT_EQ(coherence.write(coherence.caches(0), 5), Level::kRemote);
  EXPECT_EQ(coherence.write(coherence.caches(0), 5), Level::kL1);
  EXPECT_EQ(coherence.read(coherence.caches(2), 5), Level::kCcx);
  EXPECT_EQ(coherence.read(coherence.caches(1), 5), Level::kL3);
}

TEST_F(Cores, a_clean_line_held_alone_becomes_writable_for_nothing) {
  coherence.read(coherence.caches(0), 5);
  EXPECT_EQ(coherence.write(coherence.caches(0), 5), Level::kL1);
  EXPECT_EQ(coherence.read(coherence.caches(2), 5),
            Level::kCcx);  // and from then on it is modified
}

TEST_F(Cores, a_shared_line_is_not_writable) {
  coherence.write(coherence.caches(0), 5);
  coherence.read(coherence.caches(3), 5);
  EXPECT_EQ(coherence.write(coherence.caches(0), 5), Level::kSocket);
  EXPECT_EQ(coherence.read(coherence.caches(3), 5), Level::kSocket);
}

TEST_F(Cores, distance_is_the_same_both_ways) {
  coherence.write(coherence.caches(1), 5);
  EXPECT_EQ(coherence.read(coherence.caches(0), 5), Level::kRemote);
  coherence.write(coherence.caches(0), 6);
  EXPECT_EQ(coherence.read(coherence.caches(1), 6), Level::kRemote);
}

// 64 sets of 8 ways: the ninth line of a set drops the first from L1, not from L2.
TEST_F(Cores, what_l1_has_no_room_for_is_in_l2) {
  for (LineId line = 0; line <= 8 * 64; line += 64) coherence.read(coherence.caches(0), line);
  EXPECT_EQ(coherence.read(coherence.caches(0), 0), Level::kL2);
  EXPECT_EQ(coherence.read(coherence.caches(0), 0), Level::kL1);
}

TEST(CostOf, each_level_has_a_cost_of_its_own) {
  std::set<Cost> costs;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Level::kCount); ++i)
    costs.insert(cost_of(static_cast<Level>(i)));
  EXPECT_EQ(costs.size(), static_cast<std::size_t>(Level::kCount));
  EXPECT_EQ(cost_of(Level::kRemote), Cost::kTransferRemote);
}

}  // namespace
}  // namespace vringlab::sim
