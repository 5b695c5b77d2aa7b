// Actors of one kind, as one actor: the earliest of them that can run.
#pragma once

#include <memory>
#include <vector>

#include "sim/machine/core.h"

namespace vringlab::sim {

// Members live elsewhere, longer than this.
template <class Actor>
class Earliest {
 public:
  void add(Actor& member) { members_.push_back(&member); }

  // Of the earliest member that can run; of the first if none can.
  const Core& core() const { return first().core(); }
  bool runnable() const { return !members_.empty() && first().runnable(); }
  void step() { first().step(); }

 private:
  // Of members with equal clocks the one that was added first. Nearly always there is one.
  Actor& first() const {
    Actor* best = members_.front();
    return members_.size() == 1 ? *best : first_of_many(best);
  }
  [[gnu::noinline]] Actor& first_of_many(Actor* best) const {
    for (Actor* member : members_) {
      if (!member->runnable()) continue;
      if (!best->runnable() || member->core().now() < best->core().now()) best = member;
    }
    return *best;
  }

  std::vector<Actor*> members_;
};

template <class Actor>
class Group {
 public:
  template <class... Args>
  Actor& add(Args&&... args) {
    Actor& made = *members_.emplace_back(std::make_unique<Actor>(std::forward<Args>(args)...));
    earliest_.add(made);
    return made;
  }
  Actor& operator[](std::size_t i) { return *members_[i]; }
  std::size_t size() const { return members_.size(); }

  const Core& core() const { return earliest_.core(); }
  bool runnable() const { return earliest_.runnable(); }
  void step() { earliest_.step(); }

 private:
  std::vector<std::unique_ptr<Actor>> members_;
  Earliest<Actor> earliest_;
};

}  // namespace vringlab::sim
