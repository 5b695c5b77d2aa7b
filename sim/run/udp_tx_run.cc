#include "sim/run/udp_tx_run.h"

#include "sim/run/net_tx_loop.h"

namespace vringlab::sim {

RunResult run_udp_tx(const Scenario& scenario, RunControl* control) {
  return run_tx_guest<UdpTxGuest>(scenario, control);
}

}  // namespace vringlab::sim
