// Runs a scenario of zero-copy transmission.
#pragma once

#include "sim/run/run.h"

namespace vringlab::sim {

RunResult run_zerocopy(const Scenario& scenario, RunControl* control);

}  // namespace vringlab::sim
