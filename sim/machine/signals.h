// What actors tell one another within a step, so that the scheduler looks again at who
// comes next.
#pragma once

#include <cstdint>

namespace vringlab::sim {

struct Signals {
  bool woke = false;  // somebody who slept runs now
  bool rang = false;  // a kick or a call is to be delivered
};

// Pages that so many bytes fill.
constexpr std::uint64_t pages_of(std::uint64_t bytes) { return (bytes + 4095) / 4096; }

}  // namespace vringlab::sim
