// Runs a scenario of several queues that guest kernels receive by.
#pragma once

#include "sim/run/run.h"

namespace vringlab::sim {

RunResult run_kernel_pairs(const Scenario& scenario, RunControl* control);

}  // namespace vringlab::sim
