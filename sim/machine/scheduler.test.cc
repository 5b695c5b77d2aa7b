#include "sim/machine/scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "sim/cost/random.h"

namespace vringlab::sim {
namespace {

constexpr std::size_t kActors = 3;

struct Clock {
  std::uint64_t ps = 0;
  std::uint64_t now() const { return ps; }
};

// One step as it was made.
struct Made {
  std::size_t actor;
  std::uint64_t start_ps;
  bool operator==(const Made&) const = default;
};

// A toy world: each step takes a random time, may put its actor to sleep and may
// raise a bell that wakes somebody. Short times make many ties.
struct World {
  struct Actor {
    World* world = nullptr;
    std::size_t id = 0;
    Clock clock;
    bool awake = true;

    Clock& core() { return clock; }
    const Clock& core() const { return clock; }
    bool runnable() const { return awake; }
    void step() { world->step(*this); }
  };

  std::array<Actor, kActors> actors;
  RandomStream random;
  bool bell = false;
  std::vector<Made> made;

  explicit World(std::uint64_t seed) : random(seed) {
    for (std::size_t i = 0; i < kActors; ++i) actors[i] = {this, i, {}, true};
  }

  void step(Actor& actor) {
    made.push_back({actor.id, actor.clock.ps});
    actor.clock.ps += random.next() % 4;
    actor.awake = random.next() % 5 != 0;
    bell = random.next() % 3 == 0;
  }
  // Wakes one other actor, not before the step that did it.
  void deliver(std::size_t from, std::uint64_t start_ps) {
    bell = false;
    Actor& woken = actors[(from + 1 + random.next() % (kActors - 1)) % kActors];
    woken.clock.ps = std::max(woken.clock.ps, start_ps);
    woken.awake = true;
  }
  bool done() const { return made.size() >= 500; }
};

std::vector<Made> scheduled(std::uint64_t seed, TieRanks<kActors> ranks) {
  World world(seed);
  Scheduler scheduler(ranks, world.actors[0], world.actors[1], world.actors[2]);
  scheduler.run([&] { return world.done(); }, [&] { return world.bell; },
                [&](std::size_t from, std::uint64_t start) { world.deliver(from, start); });
  return world.made;
}

// Chooses anew before each step: smallest clock, then smallest rank.
std::vector<Made> scheduled_naively(std::uint64_t seed, TieRanks<kActors> ranks) {
  World world(seed);
  while (!world.done()) {
    World::Actor* next = nullptr;
    for (World::Actor& actor : world.actors) {
      if (!actor.awake) continue;
      const auto key = [&](const World::Actor& a) { return std::pair(a.clock.ps, ranks[a.id]); };
      if (next == nullptr || key(actor) < key(*next)) next = &actor;
    }
    if (next == nullptr) break;
    const std::uint64_t start = next->clock.ps;
    next->step();
    if (world.bell) world.deliver(next->id, start);
  }
  return world.made;
}

TEST(Scheduler, steps_as_one_that_chooses_anew_each_time) {
  std::size_t steps = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const TieRanks<kActors> ranks = tie_ranks<kActors>(seed);
    const auto made = scheduled(seed, ranks);
    ASSERT_EQ(made, scheduled_naively(seed, ranks)) << "seed " << seed;
    steps += made.size();
  }
  EXPECT_GT(steps, 300u * 20);  // not all of them fell asleep at once
}

TEST(Scheduler, time_never_goes_back) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto made = scheduled(seed, tie_ranks<kActors>(seed));
    EXPECT_TRUE(std::ranges::is_sorted(made, {}, &Made::start_ps)) << "seed " << seed;
  }
}

TEST(Scheduler, equal_clocks_go_by_rank) {
  for (const TieRanks<kActors> ranks : {TieRanks<kActors>{0, 1, 2}, TieRanks<kActors>{2, 0, 1}}) {
    const auto made = scheduled(1, ranks);
    EXPECT_EQ(made[0].actor, static_cast<std::size_t>(std::ranges::find(ranks, 0) - ranks.begin()));
  }
}

TEST(Scheduler, ends_when_nobody_is_runnable) {
  World world(0);
  for (World::Actor& actor : world.actors) actor.awake = false;
  Scheduler scheduler(TieRanks<kActors>{0, 1, 2}, world.actors[0], world.actors[1],
                      world.actors[2]);
  scheduler.run([] { return false; }, [] { return false; }, [](std::size_t, std::uint64_t) {});
  EXPECT_TRUE(world.made.empty());
}

TEST(TieRanks, are_permutations_and_all_of_them_come_up) {
  std::set<TieRanks<kActors>> seen;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    TieRanks<kActors> ranks = tie_ranks<kActors>(seed);
    seen.insert(ranks);
    std::ranges::sort(ranks);
    EXPECT_EQ(ranks, (TieRanks<kActors>{0, 1, 2})) << seed;
  }
  EXPECT_EQ(seen.size(), 6u);
}

TEST(TieRanks, a_device_goes_first_and_the_others_are_permuted) {
  std::set<TieRanks<4>> seen;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    TieRanks<4> ranks = device_first<4>(seed);
    EXPECT_EQ(ranks[0], 0);
    seen.insert(ranks);
    std::ranges::sort(ranks);
    EXPECT_EQ(ranks, (TieRanks<4>{0, 1, 2, 3})) << seed;
  }
  EXPECT_EQ(seen.size(), 6u);
}

TEST(TieRanks, seed_zero_is_the_order_of_the_actors) {
  EXPECT_EQ(tie_ranks<5>(0), (TieRanks<5>{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace vringlab::sim
