// Runs the workload "blk".
#pragma once

#include "sim/run/run.h"

namespace vringlab::sim {

RunResult run_blk(const Scenario& scenario, RunControl* control);

}  // namespace vringlab::sim
