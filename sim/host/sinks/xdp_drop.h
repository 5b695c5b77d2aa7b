// A TAP device whose XDP program drops every frame.
#pragma once

#include "sim/host/sink_kind.h"

namespace vringlab::sim {

inline constexpr SinkKind kXdpDropSink{
    .name = "xdp_drop",
    .doc = "TAP whose XDP program drops each frame",
    .program = true,
    .held = 0,
    .costs = {.frame = {Cost::kXdpFrame, Cost::kXdpProgram, Cost::kFrameRelease},
              .lone = {Cost::kXdpFrame, Cost::kXdpProgram, Cost::kFrameRelease},
              .flush = {}}};

}  // namespace vringlab::sim
