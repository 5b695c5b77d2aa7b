// A TAP device without a program in a bridge: socket buffers that leave by another port.
#pragma once

#include "sim/host/sink_kind.h"

namespace vringlab::sim {

inline constexpr SinkKind kTapBridgeSink{
    .name = "bridge",
    .doc = "TAP without a program: socket buffers through a bridge to another port",
    .program = false,
    .held = 0,
    .costs = {.frame = {Cost::kXdpFrame, Cost::kSkbBuild, Cost::kBridge, Cost::kSkbFree},
              .lone = {Cost::kBridge},
              .flush = {}}};

}  // namespace vringlab::sim
