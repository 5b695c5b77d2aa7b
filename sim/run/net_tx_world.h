// All objects of one transmit scenario, wired together. Memory is laid out once
// and doesn't grow with the number of packets.
#pragma once

#include "sim/guest/testpmd.h"
#include "sim/guest/udp_sender.h"
#include "sim/guest/xsk_sender.h"
#include "sim/host/invalidator.h"
#include "sim/host/kick_host.h"
#include "sim/host/vhost_worker.h"
#include "sim/run/guest_dma.h"
#include "sim/run/guest_kinds.h"
#include "sim/run/tx_side.h"

namespace vringlab::sim {

// One queue, and how much memory there is.
TxLayout lay_out_tx(const Scenario& scenario, MemorySizes& sizes);
TestpmdConfig testpmd_config(const Scenario& scenario);

using TxWorker = VhostWorker<TxSide::Device>;
using PmdSender = Testpmd<KickHost<TxWorker>>;
using UdpTxGuest = UdpSender<KickHost<TxWorker>>;
using XskTxGuest = XskSender<KickHost<TxWorker>>;

// `Guest`: who sends. One with an application has a core for that.
template <class Guest>
class NetTxWorld {
 public:
  explicit NetTxWorld(const Scenario& scenario);

  using Worker = TxWorker;

  static constexpr CoreId kGuestCore = 0;
  static constexpr CoreId kWorkerCore = 1;
  static constexpr CoreId kControlCore = 2;
  static constexpr CoreId kFourthCore = 3;  // where the sink is read, or the application runs

 private:
  MemorySizes sizes_;
  XskLayout xsk_;  // of a guest with AF_XDP
  TxLayout layout_;

 public:
  NetMachine net;
  Core guest_core;
  Core worker_core;
  Core control_core;
  std::unique_ptr<Core> fourth_core;
  TxSide tx;
  GuestDma dma;
  Worker worker;
  Guest guest;
  Invalidator invalidator;

 private:
  Guest make_guest(const Scenario& scenario);
};

extern template class NetTxWorld<PmdSender>;
extern template class NetTxWorld<UdpTxGuest>;
extern template class NetTxWorld<XskTxGuest>;

}  // namespace vringlab::sim
