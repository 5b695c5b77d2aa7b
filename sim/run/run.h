// From Scenario to RunResult.
#pragma once

#include <atomic>

#include "sim/machine/recorder.h"
#include "sim/run/result.h"
#include "sim/run/scenario.h"

namespace vringlab::sim {

// Filled in and read while a run is under way, from any thread.
struct RunControl {
  std::atomic<std::uint64_t> packets_done{0};  // so far
  std::atomic<std::uint64_t> runs_done{0};     // so far, of a calibration
  std::atomic<bool> stop{false};               // set to end the run early
};

// Thrown by run() when it was stopped.
struct Stopped {};

// Deterministic: equal scenarios give equal results. Throws
// std::invalid_argument for a scenario that check_scenario refuses.
RunResult run(const Scenario& scenario, RunControl* control = nullptr);

struct TracedRun {
  RunResult result;  // that run() gives too
  Trace trace;
};

// The same, recorded: slower, and in memory that grows with the run.
TracedRun run_traced(const Scenario& scenario, RunControl* control = nullptr);

}  // namespace vringlab::sim
