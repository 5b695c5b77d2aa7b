// A TAP device whose XDP program sends every frame back: into the TAP's own ring,
// from which its reader takes and frees it.
#pragma once

#include "sim/host/sink_kind.h"

namespace vringlab::sim {

inline constexpr SinkKind kXdpTxSink{
    .name = "xdp_tx",
    .doc = "TAP whose XDP program sends each frame back out of the TAP",
    .program = true,
    .held = 64,
    .costs = {.frame = {Cost::kXdpFrame, Cost::kXdpProgram, Cost::kSpinLock, Cost::kRingEntry,
                        Cost::kFrameRelease},
              .lone = {Cost::kXdpFrame, Cost::kXdpProgram, Cost::kSpinLock, Cost::kRingEntry,
                       Cost::kFrameRelease},
              .flush = {}}};

}  // namespace vringlab::sim
