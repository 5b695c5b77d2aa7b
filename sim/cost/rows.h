// Cost rows: each constant of the machine model with its range and its source.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace vringlab::sim {

enum class Unit : std::uint8_t {
  kCycles,
  kNanoseconds,
  kMicroseconds,
  kCyclesPerByte,
  kFraction,
  kGigabytesPerSecond,
  kMegabytesPerSecond,
  kCount
};

// low..high is a 5-95 % range, read as a log-normal prior around best.
struct CostRow {
  std::string_view name;
  Unit unit;
  double low;
  double best;
  double high;
  double at_ghz;  // for a time of instructions: the clock it was measured at; 0: any clock
  std::string_view cpu;
  std::string_view evidence;
  std::string_view source;
};

// All rows, those that no scenario uses yet included.
std::span<const CostRow> cost_rows();

// Null where there is no such row.
const CostRow* find_cost_row(std::string_view name);

}  // namespace vringlab::sim
