#include "sim/run/kernel_pairs_run.h"

#include "sim/run/pairs_loop.h"

namespace vringlab::sim {

RunResult run_kernel_pairs(const Scenario& scenario, RunControl* control) {
  return scenario.dma_merge ? run_pair_kind<MergedReceivingPair>(scenario, control)
                            : run_pair_kind<PerBufferReceivingPair>(scenario, control);
}

}  // namespace vringlab::sim
