// A transmit queue between a guest and what its socket is: ring, buffers, device loop.
#pragma once

#include "core/device/net_tx.h"
#include "sim/host/sink.h"
#include "sim/run/net_machine.h"

namespace vringlab::sim {

// Where it lies: the guest's queue and frames; page fragments and socket buffers of the host.
struct TxLayout {
  QueueLayout queue;
  std::uint64_t begin = 0;       // in host memory: page fragments, then socket buffers
  std::uint64_t frag_bytes = 0;  // of the fragments
  std::uint64_t skb_bytes = 0;   // of the socket buffers
};

// `buffers` buffers of the guest for frames of `frame_bytes`; the host's memory grows by
// what the socket needs.
TxLayout place_tx(const Scenario& scenario, Layout& guest, std::uint64_t& host_bytes,
                  std::uint32_t buffers, std::uint32_t frame_bytes);

class TxSide {
 public:
  using Sink = ModelSink<Nowhere>;
  using Device = NetTx<ModelAccess, ModelPayload, ModelFrags, Sink, ModelCaller>;

  TxSide(NetMachine& net, const Scenario& scenario, const TxLayout& layout, Core& guest,
         Core& worker, Core& control);

  NetQueue queue;
  LatencyLog latency;
  ModelFrags frags;
  Sink sink;
  Device device;
};

}  // namespace vringlab::sim
