// A TAP device whose XDP program lets every frame pass: it becomes a socket buffer
// and goes up the stack, where a raw socket ends it.
#pragma once

#include "sim/host/sink_kind.h"

namespace vringlab::sim {

inline constexpr SinkKind kXdpPassSink{
    .name = "xdp_pass",
    .doc = "TAP whose XDP program passes each frame to the stack as a socket buffer",
    .program = true,
    .held = 0,
    .costs = {.frame = {Cost::kXdpFrame, Cost::kXdpProgram, Cost::kSkbBuild, Cost::kReceiveStack,
                        Cost::kSkbFree},
              .lone = {Cost::kXdpFrame, Cost::kXdpProgram, Cost::kSkbBuild, Cost::kReceiveStack,
                       Cost::kSkbFree},
              .flush = {}}};

}  // namespace vringlab::sim
