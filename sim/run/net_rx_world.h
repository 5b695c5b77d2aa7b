// All objects of one receive scenario, wired together: a generator in the host, the
// ring of a TAP device, the vhost worker, a guest that receives.
#pragma once

#include "sim/guest/kernel_receiver.h"
#include "sim/guest/receiver.h"
#include "sim/guest/udp_socket.h"
#include "sim/guest/xsk_receiver.h"
#include "sim/host/invalidator.h"
#include "sim/host/kick_host.h"
#include "sim/host/vhost_worker.h"
#include "sim/run/guest_dma.h"
#include "sim/run/guest_kinds.h"
#include "sim/run/kernel_rx.h"
#include "sim/run/rx_side.h"
#include "sim/run/rx_transport.h"

namespace vringlab::sim {

ReceiverConfig receiver_config(const Scenario& scenario);

using RxWorker = VhostWorker<RxSide::Device>;
using PmdReceiver = Receiver<KickHost<RxWorker>>;
using RxResizer = QueueResizer<RxTransport>;
using MergedReceiver = KernelReceiver<KickHost<RxWorker>, MapPerFragment, DeadSocket, RxResizer>;
using PerBufferReceiver = KernelReceiver<KickHost<RxWorker>, MapPerBuffer, DeadSocket, RxResizer>;
using MergedUdpGuest = KernelReceiver<KickHost<RxWorker>, MapPerFragment, UdpSocket>;
using PerBufferUdpGuest = KernelReceiver<KickHost<RxWorker>, MapPerBuffer, UdpSocket>;
using XskRxGuest = XskReceiver<KickHost<RxWorker>>;

// `Guest`: who receives. One with an application has a core for that.
template <class Guest>
class NetRxWorld {
 public:
  explicit NetRxWorld(const Scenario& scenario);

  using Worker = RxWorker;

  static constexpr CoreId kGuestCore = 0;
  static constexpr CoreId kWorkerCore = 1;
  static constexpr CoreId kControlCore = 2;
  static constexpr CoreId kGeneratorCore = 3;
  static constexpr CoreId kAppCore = 4;

 private:
  MemorySizes sizes_;
  KernelRxLayout kernel_;
  XskLayout xsk_;      // of a guest with AF_XDP
  QueueConfig other_;  // the second place of a ring that is resized
  RxLayout layout_;

 public:
  NetMachine net;
  Core guest_core;
  Core worker_core;
  Core control_core;
  Core generator_core;
  std::unique_ptr<Core> app_core;
  RxSide rx;
  GuestDma dma;
  Worker worker;
  Guest guest;
  Invalidator invalidator;
  ResizeTimer resize_timer;

 private:
  KernelReceiverConfig kernel_config(const Scenario& scenario);
  RxResizer resizer();
  Guest make_guest(const Scenario& scenario);
};

extern template class NetRxWorld<PmdReceiver>;
extern template class NetRxWorld<MergedReceiver>;
extern template class NetRxWorld<PerBufferReceiver>;
extern template class NetRxWorld<MergedUdpGuest>;
extern template class NetRxWorld<PerBufferUdpGuest>;
extern template class NetRxWorld<XskRxGuest>;

}  // namespace vringlab::sim
