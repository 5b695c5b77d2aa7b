// A macvtap device: socket buffers that go out of the lower NIC, which is told of
// each frame and frees it when it has sent it.
#pragma once

#include "sim/host/sink_kind.h"

namespace vringlab::sim {

inline constexpr SinkKind kMacvtapSink{
    .name = "macvtap",
    .doc = "macvtap: socket buffers through macvlan to the lower NIC",
    .program = false,
    .held = 256,
    .costs = {.frame = {Cost::kXdpFrame, Cost::kSkbBuild, Cost::kMacvlan, Cost::kNicDoorbell,
                        Cost::kSkbFree},
              .lone = {Cost::kMacvlan, Cost::kNicDoorbell},
              .flush = {}}};

}  // namespace vringlab::sim
