// Checks of the workload "blk", and of its knobs in other workloads.
#pragma once

#include "sim/run/scenario.h"

namespace vringlab::sim {

// Throws std::invalid_argument that names the field, its value and what is permitted.
void check_blk(const Scenario& scenario);

}  // namespace vringlab::sim
