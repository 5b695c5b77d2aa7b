// Runs two programs against each other on weak memory, in every order and with
// every value that each load may return. States met before are not searched again.
#pragma once

#include <bit>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/order/program.h"
#include "tests/order/weak_memory.h"

namespace vringlab::order {

struct Step {
  std::size_t half = 0;  // 0: driver, 1: device
  Action action = Action::kEnd;
  Location at = 0;        // kLoad
  std::uint8_t time = 0;  // kLoad: of the message taken
  Word value;             // kLoad
};

struct Outcome {
  std::string violation;    // what went wrong; empty: nothing, and the search is complete
  std::vector<Step> trace;  // the turns that led there
  std::size_t states = 0;   // distinct states searched
  std::size_t runs = 0;     // runs of the real code
  double executions = 0;    // complete executions that the states stand for
};

// 128 bits in place of a state: two states share them by chance once in 2^80 searches.
struct Fingerprint {
  std::uint64_t a = 0x9e3779b97f4a7c15u;
  std::uint64_t b = 0xc2b2ae3d27d4eb4fu;

  void add(const void* bytes, std::size_t count) {
    const auto* p = static_cast<const unsigned char*>(bytes);
    for (; count > 0; p += 8) {
      std::uint64_t word = 0;
      const std::size_t part = std::min<std::size_t>(count, 8);
      std::memcpy(&word, p, part);
      count -= part;
      a = std::rotl(a ^ word, 27) * 0x9e3779b97f4a7c15u + 1;
      b = std::rotl(b + word, 31) * 0xff51afd7ed558ccdu;
    }
  }
  bool operator==(const Fingerprint&) const = default;
  struct Hash {
    std::size_t operator()(const Fingerprint& print) const { return print.a; }
  };
};

class Explorer {
 public:
  // `ordered_doorbells`: a half that is woken has acquired all that the other
  // knew when it rang, as with an eventfd; else waking orders nothing.
  Explorer(std::array<Program, 2> programs, bool ordered_doorbells)
      : programs_(std::move(programs)), ordered_doorbells_(ordered_doorbells) {}

  void initialise(Location at, const Word& value) { start_.memory.initialise(at, value); }

  Outcome run() {
    for (std::size_t i = 0; i < 2; ++i) enter(start_, i, programs_[i].start());
    outcome_.executions = search(start_);
    outcome_.states = seen_.size();
    outcome_.runs = programs_[0].runs() + programs_[1].runs();
    return outcome_;
  }

 private:
  struct Half {
    Node* node = nullptr;
    ThreadView view;
    bool rung = false;  // a doorbell that was not yet waited for; ringing twice is ringing once
    View bell;          // what the doorbell tells
  };
  struct State {
    std::array<Half, 2> halves;
    WeakMemory memory;
  };

  // Follows `edge` and does what needs no turn: release and acquire fences touch
  // their own thread only, and a store done early hides no choice from the other
  // half, whose loads may always still take the older message.
  static void enter(State& state, std::size_t i, const Edge& edge) {
    Half& half = state.halves[i];
    half.node = edge.to;
    for (const Operation& operation : edge.operations) {
      if (operation.action == Action::kStore)
        state.memory.store(half.view, operation.at, operation.value);
      else if (operation.action == Action::kSeal)
        state.memory.seal(operation.at);
      else
        state.memory.fence(half.view, operation.fence);
    }
  }

  // The number of complete executions from here.
  double search(State& state) {
    state.memory.prune(state.halves[0].view, state.halves[1].view);
    for (Half& half : state.halves) half.bell.drop_known(half.view.current);
    const auto [entry, is_new] = seen_.try_emplace(fingerprint(state), 0.0);
    if (!is_new) return entry->second;
    double& executions = entry->second;  // stays in place when others are inserted
    executions = expand(state);
    return executions;
  }

  double expand(const State& state) {
    for (std::size_t i = 0; i < 2; ++i) {
      const Operation& turn = state.halves[i].node->turn;
      if (turn.action == Action::kFail) return violate(turn.text);
      // Nothing that the other half may do changes what this load can return, nor
      // the other way round: its turn may come first without loss.
      if (turn.action == Action::kLoad && state.memory.sealed(turn.at))
        return take_turn(state, i, turn);
    }
    if (!can_move(state.halves[0]) && !can_move(state.halves[1])) return finish(state);
    double executions = 0;
    for (std::size_t i = 0; i < 2 && outcome_.violation.empty(); ++i) {
      const Half& half = state.halves[i];
      if (can_move(half)) executions += take_turn(state, i, half.node->turn);
    }
    return executions;
  }

  static bool can_move(const Half& half) {
    const Action action = half.node->turn.action;
    return action == Action::kAwait ? half.rung : action != Action::kEnd;
  }

  double take_turn(const State& state, std::size_t i, const Operation& turn) {
    if (turn.action != Action::kLoad) {
      State next = state;
      act(next, i, turn);
      return descend(next, i, turn, Word{});
    }
    double executions = 0;
    for (const Message& message : state.memory.readable(state.halves[i].view, turn.at)) {
      State next = state;
      WeakMemory::load(next.halves[i].view, message);
      executions += descend(next, i, turn, message.value);
      if (!outcome_.violation.empty()) break;
    }
    return executions;
  }

  void act(State& state, std::size_t i, const Operation& turn) const {
    Half& self = state.halves[i];
    Half& other = state.halves[1 - i];
    if (turn.action == Action::kFence) state.memory.fence(self.view, turn.fence);
    if (turn.action == Action::kRing) {
      other.rung = true;
      if (ordered_doorbells_) other.bell.join(self.view.current);
    }
    if (turn.action == Action::kAwait) {
      self.rung = false;
      self.view.current.join(self.bell);
      self.view.acquired.join(self.bell);
    }
  }

  double descend(State& next, std::size_t i, const Operation& turn, const Word& answer) {
    outcome_.trace.push_back(
        {i, turn.action, turn.at, next.halves[i].view.current.time[turn.at], answer});
    enter(next, i, programs_[i].after(*next.halves[i].node, answer));
    const double executions = search(next);
    if (outcome_.violation.empty()) outcome_.trace.pop_back();
    return executions;
  }

  // Nobody can move: both must have come to their end.
  double finish(const State& state) {
    for (const Half& half : state.halves) {
      if (half.node->turn.action != Action::kEnd) return violate("lost wake-up");
    }
    return 1;
  }
  double violate(const std::string& text) {
    outcome_.violation = text;
    return 0;
  }

  // All that the future depends on.
  static Fingerprint fingerprint(const State& state) {
    Fingerprint print;
    const auto put = [&print](const auto& value) { print.add(&value, sizeof(value)); };
    for (const Half& half : state.halves) {
      put(half.node->id);
      put(half.view);
      put(half.rung);
      put(half.bell);
    }
    put(state.memory.full());
    for (const Message& message : state.memory.messages()) {
      put(message.at);
      put(message.time);
      put(message.value);
      put(message.released);
    }
    return print;
  }

  std::array<Program, 2> programs_;  // driver, device
  bool ordered_doorbells_;
  State start_;
  std::unordered_map<Fingerprint, double, Fingerprint::Hash> seen_;  // executions from each state
  Outcome outcome_;
};

}  // namespace vringlab::order
