#include "sim/run/net_tx_run.h"

#include "sim/run/net_tx_loop.h"
#include "sim/run/udp_tx_run.h"
#include "sim/run/xsk_tx_run.h"

namespace vringlab::sim {

RunResult run_net_tx(const Scenario& scenario, RunControl* control) {
  if (scenario.guest == "vm-udp") return run_udp_tx(scenario, control);
  if (scenario.guest == "vm-xsk") return run_xsk_tx(scenario, control);
  return run_tx_guest<PmdSender>(scenario, control);
}

}  // namespace vringlab::sim
