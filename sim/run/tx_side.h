// A transmit queue between a guest and what its socket is: ring, buffers, device loop.
#pragma once

#include "core/device/net_tx.h"
#include "sim/host/tap_reader.h"
#include "sim/run/net_machine.h"

namespace vringlab::sim {

// Where it lies: the guest's queue and frames; page fragments and socket buffers of the host.
struct TxLayout {
  QueueLayout queue;
  std::uint64_t begin = 0;       // in host memory: page fragments, then socket buffers
  std::uint64_t frag_bytes = 0;  // of the fragments
  std::uint64_t skb_bytes = 0;   // of the socket buffers
  std::uint64_t ring_bytes = 0;  // of the ring behind them, if the sink is read
};

// `buffers` buffers of the guest for frames of `frame_bytes`; the host's memory grows by
// what the socket needs.
TxLayout place_tx(const Scenario& scenario, Layout& guest, std::uint64_t& host_bytes,
                  std::uint32_t buffers, std::uint32_t frame_bytes);

class TxSide {
 public:
  using Sink = ModelSink<ToReader>;
  using Device = NetTx<ModelAccess, ModelPayload, ModelFrags, Sink, ModelCaller>;

  // `reader`: core of what is behind the sink; null if that is not read.
  TxSide(NetMachine& net, const Scenario& scenario, const TxLayout& layout, Core& guest,
         Core& worker, Core& control, Core* reader);

  bool reader_woken() const { return reader != nullptr && reader->woken(); }
  void clear_woken() {
    if (reader != nullptr) reader->clear_woken();
  }

  NetQueue queue;
  LatencyLog latency;
  ModelFrags frags;
  std::unique_ptr<TapReader> reader;
  Sink sink;
  Device device;
};

}  // namespace vringlab::sim
