// What a sink is: data. Each file of sim/host/sinks describes one.
#pragma once

#include <string_view>

#include "sim/access/operations.h"

namespace vringlab::sim {

struct SinkKind {
  std::string_view name;
  std::string_view doc;
  bool program;        // runs an XDP program on each frame
  std::uint32_t held;  // frames that something behind the sink holds before it frees them
  SinkCosts costs;

  // Is there a reader behind it, on a core of its own?
  constexpr bool is_read() const { return !costs.read.empty(); }
};

}  // namespace vringlab::sim
