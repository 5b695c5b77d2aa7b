// Reads the clock, and this thread's cycles where the kernel counts them.
#pragma once

#include <cstdint>
#include <string>

namespace vringlab::measure {

struct Reading {
  double ns = 0;
  double cycles = 0;  // of this thread in user space; 0 where they are not counted
};

class Meter {
 public:
  Meter();
  ~Meter();
  Meter(const Meter&) = delete;  // owns the counter
  Meter& operator=(const Meter&) = delete;

  bool counts_cycles() const { return counter_ >= 0; }
  // Why it does not; empty if it does.
  const std::string& why_not() const { return why_not_; }

  void start();
  Reading stop();

 private:
  std::uint64_t cycles() const;

  int counter_ = -1;
  std::string why_not_;
  std::uint64_t start_ns_ = 0;
  std::uint64_t start_cycles_ = 0;
};

}  // namespace vringlab::measure
