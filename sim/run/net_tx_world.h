// All objects of one transmit scenario, wired together. Memory is laid out once
// and doesn't grow with the number of packets.
#pragma once

#include "sim/guest/testpmd.h"
#include "sim/host/invalidator.h"
#include "sim/host/kick_host.h"
#include "sim/host/vhost_worker.h"
#include "sim/run/tx_side.h"

namespace vringlab::sim {

// One queue, and how much memory there is.
TxLayout lay_out_tx(const Scenario& scenario, MemorySizes& sizes);
TestpmdConfig testpmd_config(const Scenario& scenario);

class NetTxWorld {
 public:
  explicit NetTxWorld(const Scenario& scenario);

  using Worker = VhostWorker<TxSide::Device>;
  using Guest = Testpmd<KickHost<Worker>>;

  static constexpr CoreId kGuestCore = 0;
  static constexpr CoreId kWorkerCore = 1;
  static constexpr CoreId kControlCore = 2;
  static constexpr CoreId kReaderCore = 3;

 private:
  MemorySizes sizes_;
  TxLayout layout_;

 public:
  NetMachine net;
  Core guest_core;
  Core worker_core;
  Core control_core;
  std::unique_ptr<Core> reader_core;  // where the sink is read
  TxSide tx;
  Worker worker;
  Guest guest;
  Invalidator invalidator;
};

}  // namespace vringlab::sim
