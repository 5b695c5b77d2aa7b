// Runs a receive scenario.
#pragma once

#include "sim/run/run.h"

namespace vringlab::sim {

RunResult run_net_rx(const Scenario& scenario, RunControl* control);

}  // namespace vringlab::sim
