// When a guest has something to send.
#pragma once

#include <cmath>
#include <cstdint>

#include "sim/machine/core.h"

namespace vringlab::sim {

// splitmix64, Steele, Lea and Flood 2014: a stream of 64-bit numbers from a seed.
class RandomStream {
 public:
  explicit RandomStream(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // In (0, 1].
  double next_unit() { return static_cast<double>((next() >> 11) + 1) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

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
        std::llround(-std::log(random_.next_unit()) * static_cast<double>(gap_ps_)));
  }

  std::uint64_t gap_ps_;
  bool poisson_;
  RandomStream random_;
  std::uint64_t due_ps_ = 0;
};

}  // namespace vringlab::sim
