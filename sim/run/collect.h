// What the results of all workloads have in common.
#pragma once

#include <span>

#include "sim/machine/core.h"
#include "sim/machine/latency.h"
#include "sim/run/net_machine.h"
#include "sim/run/run.h"

namespace vringlab::sim {

std::vector<LedgerRow> ledger_rows(const Ledger& ledger);  // those that are not zero
CoreResult core_result(const char* name, const Core& core);
// Cores of one kind as one: what they did together.
CoreResult sum_of(const char* name, const std::vector<Core*>& cores);
LatencyResult latency_result(const Histogram& histogram);
std::uint64_t hash_bytes(std::span<const std::byte> bytes);  // FNV-1a, 64 bit

// Sets `r.elapsed_ps` and from it the rate of r.packets.
void set_elapsed(RunResult& r, std::uint64_t elapsed_ps);

// Ends the queue's mapping on `control` and adds what mapping it took.
void collect_mapping(RunResult& r, NetQueue& queue, Core& control);

// Throws std::invalid_argument when a clock comes near its end.
void check_clock(std::uint64_t now_ps);

// Tells a watcher how far the run is; throws Stopped if it was stopped.
void report(RunControl* control, std::uint64_t packets_done);

}  // namespace vringlab::sim
