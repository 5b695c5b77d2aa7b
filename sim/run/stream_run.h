// Runs a scenario of TCP streams.
#pragma once

#include "sim/run/run.h"

namespace vringlab::sim {

RunResult run_stream(const Scenario& scenario, RunControl* control);

}  // namespace vringlab::sim
