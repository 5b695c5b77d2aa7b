// Runs a transmit scenario.
#pragma once

#include "sim/run/run.h"

namespace vringlab::sim {

RunResult run_net_tx(const Scenario& scenario, RunControl* control);

}  // namespace vringlab::sim
