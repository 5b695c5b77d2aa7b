// A probe does one thing many times; a reading is the time of one of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "measure/meter.h"

namespace vringlab::measure {

// Where probes may work.
struct Place {
  int first_cpu = 0;   // the probe's thread is on it
  int second_cpu = 0;  // of probes with two threads; the same: there is none
  std::string folder;  // for a file
};

struct Probe {
  const char* name;
  const char* doc;           // what one operation is
  std::uint32_t operations;  // of one reading
  // Why it can't be measured here; empty if it can.
  std::string (*missing)(const Place&);
  // Does them once: `times` operations, metered. Throws std::runtime_error where the
  // system refuses something.
  Reading (*run)(Meter&, const Place&, std::uint32_t times);
};

// All of them, those that can't run here included.
std::vector<Probe> probes();

// Readings of one operation each, the thread pinned to the first processor meanwhile and
// a first reading, which warms up, left out.
std::vector<Reading> readings(const Probe& probe, Meter& meter, const Place& place,
                              std::uint32_t count);

// Of probes() in each file.
void add_instructions(std::vector<Probe>& all);
void add_copies(std::vector<Probe>& all);
void add_threads(std::vector<Probe>& all);
void add_system(std::vector<Probe>& all);

// Restores the thread's processors when it goes.
class Pinned {
 public:
  explicit Pinned(int cpu);
  ~Pinned();
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

 private:
  std::vector<std::uint8_t> before_;
};

// Keeps a value, and what it depends on, from being optimised away.
template <class T>
inline void keep(T& value) {
  asm volatile("" : "+m"(value) : : "memory");
}

inline std::string nothing_missing(const Place&) { return {}; }

}  // namespace vringlab::measure
