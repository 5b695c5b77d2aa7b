// How fields of a scenario are refused: by name, value and what is permitted.
#pragma once

#include <cmath>
#include <initializer_list>
#include <sstream>
#include <stdexcept>
#include <string>

namespace vringlab::sim {

inline constexpr int kDigits = 12;  // enough to tell a value from the end of its range

template <class T>
[[noreturn]] void refuse(const char* field, const T& value, const std::string& permitted) {
  std::ostringstream text;
  text.precision(kDigits);
  text << field << " = " << value << ": must be " << permitted;
  throw std::invalid_argument(text.str());
}

template <class T>
void in_range(const char* field, T value, T low, T high) {
  std::ostringstream permitted;
  permitted.precision(kDigits);
  permitted << "between " << low << " and " << high;
  if (!(value >= low && value <= high)) refuse(field, value, permitted.str());  // NaN fails too
}

inline void one_of(const char* field, const std::string& value,
                   std::initializer_list<const char*> permitted) {
  std::string names = "one of";
  for (const char* name : permitted) {
    if (value == name) return;
    names += std::string(" ") + name;
  }
  refuse(field, "\"" + value + "\"", names);
}

}  // namespace vringlab::sim
