// Runs a transmit scenario whose guest has an AF_XDP socket.
#pragma once

#include "sim/run/run.h"

namespace vringlab::sim {

RunResult run_xsk_tx(const Scenario& scenario, RunControl* control);

}  // namespace vringlab::sim
