// All objects of a scenario of zero-copy transmission, wired together: as NetTxWorld,
// and a NIC that gives lent frames back.
#pragma once

#include "core/device/net_tx_zerocopy.h"
#include "sim/guest/testpmd.h"
#include "sim/host/invalidator.h"
#include "sim/host/kick_host.h"
#include "sim/host/nic_completions.h"
#include "sim/host/sink.h"
#include "sim/host/vhost_worker.h"
#include "sim/run/net_tx_world.h"

namespace vringlab::sim {

class ZeroCopyWorld {
 public:
  explicit ZeroCopyWorld(const Scenario& scenario);

  using Sink = ModelSink<ToNic>;
  using Device = NetTxZeroCopy<ModelAccess, ModelPayload, Sink, ModelCaller>;
  using Worker = VhostWorker<Device>;
  using Guest = Testpmd<KickHost<Worker>>;

  static constexpr CoreId kGuestCore = 0;
  static constexpr CoreId kWorkerCore = 1;
  static constexpr CoreId kControlCore = 2;
  static constexpr CoreId kNicCore = 3;

 private:
  MemorySizes sizes_;
  TxLayout layout_;

 public:
  NetMachine net;
  Core guest_core;
  Core worker_core;
  Core control_core;
  Core nic_core;
  NetQueue queue;
  LatencyLog latency;
  ModelFrags frags;
  NicCompletions nic;
  Sink sink;
  Device device;
  Worker worker;
  Guest guest;
  Invalidator invalidator;
};

}  // namespace vringlab::sim
