// All objects of one transmit scenario, wired together. Memory is laid out once
// and doesn't grow with the number of packets.
#pragma once

#include "sim/guest/testpmd.h"
#include "sim/host/invalidator.h"
#include "sim/host/kick_host.h"
#include "sim/host/sink.h"
#include "sim/host/vhost_worker.h"
#include "sim/run/net_machine.h"

namespace vringlab::sim {

// The guest's queue and frames; page fragments and socket buffers of the host.
struct TxLayout {
  QueueLayout queue;
  MemorySizes sizes;
  std::uint64_t frag_bytes = 0;  // of the host's memory; the rest is for socket buffers
};
TxLayout lay_out_tx(const Scenario& scenario);
// Chunks of page fragments for every buffer that may be out: a batch, what is staged
// and what is held behind the sink, and two more, as the tail of a chunk is lost when
// it is left.
std::uint64_t frag_bytes(const Scenario& scenario);
TestpmdConfig testpmd_config(const Scenario& scenario);

class NetTxWorld {
 public:
  explicit NetTxWorld(const Scenario& scenario);

  using Device = NetTx<ModelAccess, ModelPayload, ModelFrags, ModelSink<Nowhere>, ModelCaller>;
  using Worker = VhostWorker<Device>;
  using Guest = Testpmd<KickHost<Worker>>;

  static constexpr CoreId kGuestCore = 0;
  static constexpr CoreId kWorkerCore = 1;
  static constexpr CoreId kControlCore = 2;

 private:
  TxLayout layout_;

 public:
  NetMachine net;
  Core guest_core;
  Core worker_core;
  Core control_core;
  NetQueue queue;
  LatencyLog latency;
  ModelFrags frags;
  ModelSink<Nowhere> sink;
  Device device;
  Worker worker;
  Guest guest;
  Invalidator invalidator;
};

}  // namespace vringlab::sim
