// Kicks and calls, as a recorder sees them.
#pragma once

#include "sim/access/model_access.h"
#include "sim/machine/recorder.h"

namespace vringlab::sim {

inline void record_flow(TraceFlowKind kind, const Core& from, std::uint64_t at_ps, const Core& to) {
  if (Recorder* recorder = Recorder::current()) [[unlikely]]
    recorder->flow(kind, from, at_ps, to);
}

// Called where bells are delivered.
inline void record_bells(const Doorbells& raised, const Core& guest, const Core& worker) {
  if (raised.kick) record_flow(TraceFlowKind::kKick, guest, raised.kick_ps, worker);
  if (raised.call) record_flow(TraceFlowKind::kCall, worker, raised.call_ps, guest);
}

}  // namespace vringlab::sim
