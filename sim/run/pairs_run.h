// Runs a scenario of queue pairs.
#pragma once

#include "sim/run/run.h"

namespace vringlab::sim {

RunResult run_pairs(const Scenario& scenario, RunControl* control);

}  // namespace vringlab::sim
