// A TAP device whose XDP program sends every frame back: into the TAP's own ring, from
// which a process that reads the TAP takes and frees it. What finds the ring full is lost.
#pragma once

#include "sim/host/sink_kind.h"

namespace vringlab::sim {

inline constexpr SinkKind kXdpTxSink{
    .name = "xdp_tx",
    .doc = "TAP whose XDP program sends each frame back out of the TAP",
    .program = true,
    .held = 0,
    .costs = {.frame = {Cost::kXdpFrame, Cost::kXdpProgram, Cost::kSpinLock, Cost::kRingEntry},
              .lone = {Cost::kXdpFrame, Cost::kXdpProgram, Cost::kSpinLock, Cost::kRingEntry},
              .flush = {},
              .read = {Cost::kSyscall, Cost::kReceiveCall, Cost::kRingEntry, Cost::kFrameRelease}}};

}  // namespace vringlab::sim
