// A TAP device whose XDP program redirects every frame to a NIC, which is told of
// them once a call and frees them when it has sent them.
#pragma once

#include "sim/host/sink_kind.h"

namespace vringlab::sim {

inline constexpr SinkKind kXdpRedirectSink{
    .name = "xdp_redirect",
    .doc = "TAP whose XDP program redirects each frame to a NIC",
    .program = true,
    .held = 256,
    .costs = {
        .frame = {Cost::kXdpFrame, Cost::kXdpProgram, Cost::kXdpRedirect, Cost::kFrameRelease},
        .lone = {Cost::kXdpFrame, Cost::kXdpProgram, Cost::kXdpRedirect, Cost::kFrameRelease},
        .flush = {Cost::kNicDoorbell}}};

}  // namespace vringlab::sim
