// All sinks, by name.
#pragma once

#include <span>

#include "sim/host/sink_kind.h"

namespace vringlab::sim {

std::span<const SinkKind> sink_kinds();

// Throws std::invalid_argument that lists the names there are.
const SinkKind& find_sink(std::string_view name);

}  // namespace vringlab::sim
