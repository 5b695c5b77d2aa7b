#include "sim/run/run.h"

#include "sim/run/blk_run.h"
#include "sim/run/net_rx_run.h"
#include "sim/run/net_tx_run.h"
#include "sim/run/pairs_run.h"
#include "sim/run/stream_run.h"
#include "sim/run/zerocopy_run.h"

namespace vringlab::sim {

RunResult run(const Scenario& scenario, RunControl* control) {
  check_scenario(scenario);
  if (scenario.workload == "stream" || scenario.workload == "rr")
    return run_stream(scenario, control);
  if (scenario.workload == "io" || scenario.workload == "macswap" || scenario.queue_pairs > 1)
    return run_pairs(scenario, control);
  if (scenario.workload == "blk") return run_blk(scenario, control);
  if (scenario.zerocopy) return run_zerocopy(scenario, control);
  return scenario.workload == "rx" ? run_net_rx(scenario, control) : run_net_tx(scenario, control);
}

TracedRun run_traced(const Scenario& scenario, RunControl* control) {
  Recorder recorder;
  RunResult result = run(scenario, control);
  return {std::move(result), recorder.trace()};
}

}  // namespace vringlab::sim
