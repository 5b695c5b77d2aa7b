// Runs a transmit scenario whose guest writes into a UDP socket.
#pragma once

#include "sim/run/run.h"

namespace vringlab::sim {

RunResult run_udp_tx(const Scenario& scenario, RunControl* control);

}  // namespace vringlab::sim
