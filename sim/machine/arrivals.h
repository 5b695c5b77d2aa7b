// When a guest has something to send.
#pragma once

#include <cmath>
#include <cstdint>

#include "sim/cost/random.h"
#include "sim/machine/core.h"

namespace vringlab::sim {

class Arrivals {
 public:
  // `gap_ps` 0: always. `poisson`: gaps are exponential with that mean.
  Arrivals(std::uint64_t gap_ps, bool poisson, std::uint64_t seed)
      : gap_ps_(gap_ps), poisson_(poisson), random_(seed) {}

  // Idles `core` until the next arrival; arrivals that are overdue don't wait.
  void wait_for(Core& core) {
    if (gap_ps_ == 0) return;
    due_ps_ += poisson_ ? exponential() : gap_ps_;
    core.idle_until(due_ps_);
  }

 private:
  std::uint64_t exponential() {
    return static_cast<std::uint64_t>(
        std::llround(-std::log(random_.unit()) * static_cast<double>(gap_ps_)));
  }

  std::uint64_t gap_ps_;
  bool poisson_;
  RandomStream random_;
  std::uint64_t due_ps_ = 0;
};

}  // namespace vringlab::sim
