// A receive queue between a generator in the host and a guest: the TAP's ring, device loop.
#pragma once

#include "sim/host/generator.h"
#include "sim/host/rx_queue.h"
#include "sim/run/net_machine.h"

namespace vringlab::sim {

// Where it lies: the guest's queue and buffers; the TAP's ring of the host.
struct RxLayout {
  QueueLayout queue;
  TapRingConfig tap;
  std::uint64_t begin = 0;  // of the TAP's ring in host memory
};

// `buffers` buffers of the guest; the host's memory grows by the TAP's ring.
RxLayout place_rx(const Scenario& scenario, Layout& guest, std::uint64_t& host_bytes,
                  std::uint32_t buffers);

class RxSide {
 public:
  using Rx = NetRx<ModelAccess, ModelPayload, TapRing, ModelCaller>;
  using Device = RxQueue<Rx>;

  // `stream`: which of several generators this is, each with arrivals of its own.
  // `skip_losses`: see Generator.
  RxSide(NetMachine& net, const Scenario& scenario, const RxLayout& layout, Core& guest,
         Core& worker, Core& control, Core& generator, std::size_t stream, bool skip_losses);

  // The VMM on `core` takes the queue from its worker, and gives it back with another ring.
  void stop(Core& core);
  void start(Core& core, const QueueConfig& ring);

  NetQueue queue;
  LatencyLog latency;
  TapRing tap;
  Rx rx;
  Device device;
  Generator generator;
};

}  // namespace vringlab::sim
