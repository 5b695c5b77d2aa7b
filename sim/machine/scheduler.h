// Runs actors in time order: always the runnable one with the smallest clock,
// one bounded step at a time.
//
// An actor has core(), runnable() and step(). A step's effects on memory are
// visible to every later step; its order among steps is that of its start.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

#include "sim/machine/recorder.h"

namespace vringlab::sim {

// Which of two actors with equal clocks goes first: the one with lower rank.
template <std::size_t N>
using TieRanks = std::array<std::uint8_t, N>;

// 0 1 2 .. for seed 0; else a permutation drawn from the seed.
template <std::size_t N>
constexpr TieRanks<N> tie_ranks(std::uint64_t seed) {
  TieRanks<N> ranks{};
  for (std::size_t i = 0; i < N; ++i) ranks[i] = static_cast<std::uint8_t>(i);
  for (std::size_t i = N; seed != 0 && i > 1; --i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;  // MMIX, Knuth
    std::swap(ranks[i - 1], ranks[(seed >> 33) % i]);
  }
  return ranks;
}

// The first actor is a device: what it has done by some time is there for who looks at that time.
// The others as by tie_ranks().
template <std::size_t N>
constexpr TieRanks<N> device_first(std::uint64_t seed) {
  TieRanks<N> ranks{};
  const TieRanks<N - 1> others = tie_ranks<N - 1>(seed);
  for (std::size_t i = 1; i < N; ++i) ranks[i] = static_cast<std::uint8_t>(others[i - 1] + 1);
  return ranks;
}

template <class... Actors>
class Scheduler {
 public:
  static constexpr std::size_t kActors = sizeof...(Actors);

  Scheduler(TieRanks<kActors> ranks, Actors&... actors) : ranks_(ranks), actors_(&actors...) {}

  // Steps until `done()`, or until nobody is runnable. After each step that
  // raised a doorbell, `deliver(actor, start_ps)` is told who and when.
  template <class Done, class Raised, class Deliver>
  void run(Done done, Raised raised, Deliver deliver) {
    Recorder* const recorder = Recorder::current();
    while (!done()) {
      Choice choice = choose(std::index_sequence_for<Actors...>{});
      if (choice.actor == kActors) return;
      if (recorder != nullptr) [[unlikely]] {
        recorder->flush_all();  // what the step before this one did
        choice.next_ps = 0;     // choosing again after each step chooses the same
      }
      step(choice, done, raised, deliver, std::index_sequence_for<Actors...>{});
    }
  }

  // Does `a` go before `b` when both clocks stand at the same time?
  bool first(std::size_t a, std::size_t b) const { return ranks_[a] < ranks_[b]; }

 private:
  struct Choice {
    std::size_t actor = kActors;
    std::uint64_t clock_ps = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t next_ps = std::numeric_limits<std::uint64_t>::max();  // of the one after it
  };

  template <std::size_t... I>
  Choice choose(std::index_sequence<I...>) const {
    Choice best;
    (consider<I>(best), ...);
    return best;
  }
  template <std::size_t I>
  void consider(Choice& best) const {
    const auto& actor = *std::get<I>(actors_);
    if (!actor.runnable()) return;
    const std::uint64_t clock = actor.core().now();
    if (best.actor == kActors || clock < best.clock_ps ||
        (clock == best.clock_ps && first(I, best.actor))) {
      best.next_ps = std::min(best.next_ps, best.clock_ps);
      best.actor = I;
      best.clock_ps = clock;
    } else {
      best.next_ps = std::min(best.next_ps, clock);
    }
  }

  template <class Done, class Raised, class Deliver, std::size_t... I>
  void step(const Choice& choice, Done& done, Raised& raised, Deliver& deliver,
            std::index_sequence<I...>) {
    (void)((choice.actor == I && (step_one<I>(choice, done, raised, deliver), true)) || ...);
  }
  // As long as it stays strictly first and says nothing to others, the same
  // actor would be chosen again.
  template <std::size_t I, class Done, class Raised, class Deliver>
  void step_one(const Choice& choice, Done& done, Raised& raised, Deliver& deliver) {
    auto& actor = *std::get<I>(actors_);
    do {
      const std::uint64_t start_ps = actor.core().now();
      actor.step();
      if (raised()) {
        deliver(I, start_ps);
        return;
      }
    } while (actor.runnable() && actor.core().now() < choice.next_ps && !done());
  }

  TieRanks<kActors> ranks_;
  std::tuple<Actors*...> actors_;
};

}  // namespace vringlab::sim
