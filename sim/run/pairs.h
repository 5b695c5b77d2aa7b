// Queue pairs by workload: what a pair has, what its actors tell each other, what it adds to
// a result. All that `PairsWorld` and its run ask of a pair is here.
#pragma once

#include "sim/guest/forwarder.h"
#include "sim/guest/kernel_receiver.h"
#include "sim/guest/receiver.h"
#include "sim/guest/testpmd.h"
#include "sim/host/kick_host.h"
#include "sim/host/vhost_thread.h"
#include "sim/run/guest_dma.h"
#include "sim/run/kernel_rx.h"
#include "sim/run/result.h"
#include "sim/run/rx_side.h"
#include "sim/run/tx_side.h"

namespace vringlab::sim {

using PairThread = VhostThread<TxSide::Device, RxSide::Device>;

// Cores that a pair uses; worker and control serve others as well.
struct PairCores {
  Core& guest;
  Core& worker;
  Core& control;
  Core* generator;  // null where nothing is generated
  Core* reader;     // null where the sink is not read
};

// Who goes first at equal time.
struct PairOrder {
  bool guest_before_worker = false;
  bool generator_before_worker = false;
  bool generator_before_guest = false;
};

template <class Device>
using Served = ServedBy<PairThread, Device>;

// testpmd txonly, or a guest kernel's pktgen, into a sink.
class SendingPair {
 public:
  using Guest = Testpmd<RingBell>;
  static constexpr bool kGenerates = false;
  static constexpr bool kSends = true;
  struct Layout {
    TxLayout tx;
  };
  static Layout lay_out(const Scenario& scenario, sim::Layout& guest, std::uint64_t& host_bytes);

  SendingPair(NetMachine& net, const Scenario& scenario, const Layout& layout,
              const PairCores& cores, PairThread& thread, std::size_t number);

  bool raised() const { return tx.queue.bells.any() || tx.reader_woken(); }
  // The last step, of any actor, began at `start_ps`.
  void deliver(std::uint64_t start_ps, const PairOrder& order);
  std::uint64_t packets() const { return tx.device.counters().packets; }
  // When the last step that may have ended the run began.
  std::uint64_t step_ps() const { return tx_served.thread->step_ps(); }
  // The run ends after the step that began at `last_ps`; `before`: among guests this one
  // went before the pair that made it.
  void end(std::uint64_t last_ps, bool before, const PairOrder& order);
  void add_to(RunResult& result, Core& control);
  void add_to(Histogram& latency) const { latency.add(tx.latency.histogram()); }

  TxSide tx;
  Served<TxSide::Device> tx_served;
  Guest guest;
};

// A generator, testpmd rxonly or a guest kernel's softirq.
template <class Receives>
class ReceivingPairOf {
 public:
  using Guest = Receives;
  static constexpr bool kGenerates = true;
  static constexpr bool kSends = false;
  struct Layout {
    RxLayout rx;
    KernelRxLayout kernel;  // of a guest kernel
  };
  static Layout lay_out(const Scenario& scenario, sim::Layout& guest, std::uint64_t& host_bytes);

  ReceivingPairOf(NetMachine& net, const Scenario& scenario, const Layout& layout,
                  const PairCores& cores, PairThread& thread, std::size_t number);

  bool raised() const { return rx.queue.bells.any() || rx.tap.freed() || rx.generator.arrived(); }
  void deliver(std::uint64_t start_ps, const PairOrder& order);
  std::uint64_t packets() const { return guest.received(); }
  std::uint64_t step_ps() const { return guest.step_ps(); }
  // The run ends after the step that began at `last_ps`; `before`: among guests this one
  // went before the pair that made it.
  void end(std::uint64_t last_ps, bool before, const PairOrder& order);
  void add_to(RunResult& result, Core& control);
  void add_to(Histogram& latency) const { latency.add(rx.latency.histogram()); }

  RxSide rx;
  GuestDma dma;
  Served<RxSide::Device> rx_served;
  Guest guest;

 private:
  Guest make_guest(NetMachine& net, const Scenario& scenario, const Layout& layout, Core& core);
};
using ReceivingPair = ReceivingPairOf<Receiver<RingBell>>;
using MergedReceivingPair = ReceivingPairOf<KernelReceiver<RingBell, MapPerFragment, DeadSocket>>;
using PerBufferReceivingPair = ReceivingPairOf<KernelReceiver<RingBell, MapPerBuffer, DeadSocket>>;

// A generator, testpmd that sends back what it gets, a sink. Guests poll: nobody is called.
class ForwardingPair {
 public:
  using Guest = Forwarder;
  static constexpr bool kGenerates = true;
  static constexpr bool kSends = true;
  struct Layout {
    RxLayout rx;
    TxLayout tx;
  };
  static Layout lay_out(const Scenario& scenario, sim::Layout& guest, std::uint64_t& host_bytes);

  ForwardingPair(NetMachine& net, const Scenario& scenario, const Layout& layout,
                 const PairCores& cores, PairThread& thread, std::size_t number);

  bool raised() const { return rx.generator.arrived() || guest.kicked() || tx.reader_woken(); }
  void deliver(std::uint64_t start_ps, const PairOrder& order);
  std::uint64_t packets() const { return tx.device.counters().packets; }
  std::uint64_t step_ps() const { return tx_served.thread->step_ps(); }
  // The run ends after the step that began at `last_ps`; `before`: among guests this one
  // went before the pair that made it.
  void end(std::uint64_t last_ps, bool before, const PairOrder& order);
  void add_to(RunResult& result, Core& control);
  void add_to(Histogram&) const {}  // a frame's way goes through two queues

  RxSide rx;
  TxSide tx;
  Served<TxSide::Device> tx_served;
  Served<RxSide::Device> rx_served;
  Guest guest;
};

extern template class ReceivingPairOf<Receiver<RingBell>>;
extern template class ReceivingPairOf<KernelReceiver<RingBell, MapPerFragment, DeadSocket>>;
extern template class ReceivingPairOf<KernelReceiver<RingBell, MapPerBuffer, DeadSocket>>;

}  // namespace vringlab::sim
