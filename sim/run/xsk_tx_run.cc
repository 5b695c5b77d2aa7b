#include "sim/run/xsk_tx_run.h"

#include "sim/run/net_tx_loop.h"

namespace vringlab::sim {

RunResult run_xsk_tx(const Scenario& scenario, RunControl* control) {
  return run_tx_guest<XskTxGuest>(scenario, control);
}

}  // namespace vringlab::sim
