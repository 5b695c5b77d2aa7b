#include "sim/host/sinks.h"

#include <array>
#include <stdexcept>
#include <string>

#include "sim/host/sinks/host_tcp.h"
#include "sim/host/sinks/macvtap.h"
#include "sim/host/sinks/tap_bridge.h"
#include "sim/host/sinks/xdp_drop.h"
#include "sim/host/sinks/xdp_pass.h"
#include "sim/host/sinks/xdp_redirect.h"
#include "sim/host/sinks/xdp_tx.h"

namespace vringlab::sim {
namespace {

constexpr auto kSinks =
    std::to_array<SinkKind>({kXdpDropSink, kXdpRedirectSink, kXdpTxSink, kXdpPassSink,
                             kTapBridgeSink, kMacvtapSink, kHostTcpSink});

}  // namespace

std::span<const SinkKind> sink_kinds() { return kSinks; }

const SinkKind& find_sink(std::string_view name) {
  std::string names;
  for (const SinkKind& sink : kSinks) {
    if (sink.name == name) return sink;
    names += (names.empty() ? "" : ", ") + std::string(sink.name);
  }
  throw std::invalid_argument("sink = \"" + std::string(name) + "\": must be one of " + names);
}

}  // namespace vringlab::sim
