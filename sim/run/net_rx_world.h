// All objects of one receive scenario, wired together: a generator in the host, the
// ring of a TAP device, the vhost worker, a guest that receives.
#pragma once

#include "sim/guest/receiver.h"
#include "sim/host/generator.h"
#include "sim/host/invalidator.h"
#include "sim/host/kick_host.h"
#include "sim/host/rx_queue.h"
#include "sim/host/vhost_worker.h"
#include "sim/run/net_machine.h"

namespace vringlab::sim {

struct RxLayout {
  QueueLayout queue;
  TapRingConfig tap;
  MemorySizes sizes;
};
RxLayout lay_out_rx(const Scenario& scenario);

class NetRxWorld {
 public:
  explicit NetRxWorld(const Scenario& scenario);

  using Rx = NetRx<ModelAccess, ModelPayload, TapRing, ModelCaller>;
  using Device = RxQueue<Rx>;
  using Worker = VhostWorker<Device>;
  using Guest = Receiver<KickHost<Worker>>;

  static constexpr CoreId kGuestCore = 0;
  static constexpr CoreId kWorkerCore = 1;
  static constexpr CoreId kControlCore = 2;
  static constexpr CoreId kGeneratorCore = 3;

 private:
  RxLayout layout_;

 public:
  NetMachine net;
  Core guest_core;
  Core worker_core;
  Core control_core;
  Core generator_core;
  NetQueue queue;
  LatencyLog latency;
  TapRing tap;
  Rx rx;
  Device device;
  Worker worker;
  Guest guest;
  Invalidator invalidator;
  Generator generator;
};

}  // namespace vringlab::sim
