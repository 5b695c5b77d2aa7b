// A TAP device without a program whose other end is this host: frames go up its TCP
// stack. The sink of TCP streams.
#pragma once

#include "sim/host/sink_kind.h"

namespace vringlab::sim {

inline constexpr SinkKind kHostTcpSink{
    .name = "host_tcp",
    .doc = "TAP without a program: socket buffers up the TCP stack of this host",
    .program = false,
    .held = 0,
    .costs = {.frame = {Cost::kXdpFrame, Cost::kSkbBuild, Cost::kTcpReceive, Cost::kSkbFree},
              .lone = {Cost::kTcpReceive},
              .flush = {}}};

}  // namespace vringlab::sim
