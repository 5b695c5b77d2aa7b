#include "sim/run/pairs_run.h"

#include "sim/run/kernel_pairs_run.h"
#include "sim/run/pairs_loop.h"

namespace vringlab::sim {

RunResult run_pairs(const Scenario& scenario, RunControl* control) {
  if (scenario.workload == "tx") return run_pair_kind<SendingPair>(scenario, control);
  if (scenario.workload != "rx") return run_pair_kind<ForwardingPair>(scenario, control);
  if (scenario.guest == "vm-kernel") return run_kernel_pairs(scenario, control);
  return run_pair_kind<ReceivingPair>(scenario, control);
}

}  // namespace vringlab::sim
