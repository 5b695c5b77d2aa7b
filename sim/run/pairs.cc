#include "sim/run/pairs.h"

#include <utility>

#include "sim/access/record_bells.h"
#include "sim/run/collect.h"
#include "sim/run/net_rx_world.h"
#include "sim/run/net_tx_world.h"

namespace vringlab::sim {
namespace {

// Tells guest and worker what the last step raised in a queue of theirs.
template <class Guest, class Device>
void deliver_bells(NetQueue& queue, Guest& guest, Served<Device>& served, std::uint64_t start_ps,
                   const PairOrder& order) {
  const Doorbells raised = std::exchange(queue.bells, {});
  record_bells(raised, guest.core(), *queue.context.core);
  if (raised.used_written) guest.used_written(start_ps, order.guest_before_worker);
  if (raised.kick) served.wake(raised.kick_ps);
  if (raised.call) guest.called(raised.call_ps + guest.core().machine().costs.irq_latency_ps);
}

// A worker at work looks by itself, and one that lacks buffers waits for the guest.
void deliver_arrival(RxSide& rx, Served<RxSide::Device>& served) {
  if (!rx.generator.arrived()) return;
  const std::uint64_t arrival_ps = rx.generator.take_arrival();
  if (served.task.ready() || rx.device.lacks_buffers()) return;
  rx.generator.wakes();
  served.wake(arrival_ps);
}

void add_tx(RunResult& r, const TxSide& tx) {
  const NetTxCounters& counters = tx.device.counters();
  r.packets += counters.packets - tx.sink.dropped();
  r.bytes += counters.bytes;
  r.refused += counters.refused;
  r.dropped += counters.dropped + tx.sink.dropped();
  r.batches += counters.batches + counters.alone;
  r.alone += counters.alone;
  r.calls += counters.calls;
}

// What did not come as far as the guest, and what the device did to the others.
void add_rx(RunResult& r, const RxSide& rx) {
  const NetRxCounters& counters = rx.rx.counters();
  r.refused += counters.refused;
  r.dropped += counters.dropped + rx.generator.lost();
  r.calls += counters.calls;
}

}  // namespace

SendingPair::Layout SendingPair::lay_out(const Scenario& s, sim::Layout& guest,
                                         std::uint64_t& host_bytes) {
  return {place_tx(s, guest, host_bytes, s.ring_size + s.guest_burst, s.packet_bytes)};
}

SendingPair::SendingPair(NetMachine& net, const Scenario& s, const Layout& layout,
                         const PairCores& cores, PairThread& thread, std::size_t number)
    : tx(net, s, layout.tx, cores.guest, cores.worker, cores.control, cores.reader),
      tx_served(tx.device, Op::kUnmodelledLate, thread),
      guest(cores.guest, tx.queue.driver, tx.queue.frames(), testpmd_config(s),
            Arrivals(period_ps(s.offered_pps), s.arrival == "poisson", s.seed + number), tx.latency,
            RingBell{&tx.queue.bells}) {}

void SendingPair::deliver(std::uint64_t start_ps, const PairOrder& order) {
  tx.clear_woken();
  deliver_bells(tx.queue, guest, tx_served, start_ps, order);
}

void SendingPair::end(std::uint64_t last_ps, bool, const PairOrder& order) {
  guest.used_written(last_ps, order.guest_before_worker);
}

void SendingPair::add_to(RunResult& r, Core& control) {
  add_tx(r, tx);
  r.kicks += guest.kicks();
  r.interrupts += guest.interrupts();
  collect_mapping(r, tx.queue, control);
}

template <class Guest>
auto ReceivingPairOf<Guest>::lay_out(const Scenario& s, sim::Layout& guest,
                                     std::uint64_t& host_bytes) -> Layout {
  const RxLayout rx = place_rx(s, guest, host_bytes, cuts_buffers(s) ? 0 : s.ring_size);
  return {rx, place_kernel_rx(s, guest)};
}

template <class Guest>
ReceivingPairOf<Guest>::ReceivingPairOf(NetMachine& net, const Scenario& s, const Layout& layout,
                                        const PairCores& cores, PairThread& thread,
                                        std::size_t number)
    : rx(net, s, layout.rx, cores.guest, cores.worker, cores.control, *cores.generator, number,
         s.skip_polls && s.offered_pps == 0),
      dma(s, net, layout.kernel.pool, rx.queue),
      rx_served(rx.device, Op::kUnmodelledRxLate, thread),
      guest(make_guest(net, s, layout, cores.guest)) {}

template <class Guest>
Guest ReceivingPairOf<Guest>::make_guest(NetMachine& net, const Scenario& s, const Layout& layout,
                                         Core& core) {
  const RingBell bell{&rx.queue.bells};
  if constexpr (std::is_same_v<Guest, Receiver<RingBell>>) {
    return {core, rx.queue.driver, rx.queue.frames(), receiver_config(s), bell};
  } else {
    const KernelReceiverConfig config{
        .buffers = layout.kernel.fragments, .pool = dma.pool(), .defer_ps = defer_ps(s)};
    return {
        core, core, rx.queue.driver, dma.iommu, net.guest_bytes(), config, {.packets = s.packets},
        bell};
  }
}

template <class Guest>
void ReceivingPairOf<Guest>::deliver(std::uint64_t start_ps, const PairOrder& order) {
  deliver_bells(rx.queue, guest, rx_served, start_ps, order);
  if (rx.tap.take_freed()) rx.generator.freed(start_ps, order.generator_before_worker);
  deliver_arrival(rx, rx_served);
}

template <class Guest>
void ReceivingPairOf<Guest>::end(std::uint64_t last_ps, bool before, const PairOrder& order) {
  guest.used_written(last_ps, before);
  rx.generator.freed(last_ps, order.generator_before_guest);
}

template <class Guest>
void ReceivingPairOf<Guest>::add_to(RunResult& r, Core& control) {
  r.packets += guest.received();
  r.bytes += guest.bytes();
  r.batches += rx.rx.counters().batches;
  add_rx(r, rx);
  r.kicks += guest.kicks();
  r.interrupts += guest.interrupts();
  dma.add_to(r.dma);
  collect_mapping(r, rx.queue, control);
}

template class ReceivingPairOf<Receiver<RingBell>>;
template class ReceivingPairOf<KernelReceiver<RingBell, MapPerFragment, DeadSocket>>;
template class ReceivingPairOf<KernelReceiver<RingBell, MapPerBuffer, DeadSocket>>;

ForwardingPair::Layout ForwardingPair::lay_out(const Scenario& s, sim::Layout& guest,
                                               std::uint64_t& host_bytes) {
  // Both queues use the receive queue's buffers.
  std::uint64_t tap_bytes = 0;
  RxLayout rx = place_rx(s, guest, tap_bytes, 2 * s.ring_size + s.guest_burst);
  const TxLayout tx = place_tx(s, guest, host_bytes, 0, s.rx_buffer_bytes);
  rx.begin = host_bytes;
  host_bytes += tap_bytes;
  return {rx, tx};
}

ForwardingPair::ForwardingPair(NetMachine& net, const Scenario& s, const Layout& layout,
                               const PairCores& cores, PairThread& thread, std::size_t number)
    : rx(net, s, layout.rx, cores.guest, cores.worker, cores.control, *cores.generator, number,
         false),
      tx(net, s, layout.tx, cores.guest, cores.worker, cores.control, cores.reader),
      tx_served(tx.device, Op::kUnmodelledLate, thread),
      rx_served(rx.device, Op::kUnmodelledRxLate, thread),
      guest(cores.guest, rx.queue.driver, tx.queue.driver, rx.queue.frames(),
            {.buffer_bytes = s.rx_buffer_bytes,
             .burst = s.guest_burst,
             .mac_swap = s.workload == "macswap",
             .exits = s.guest == "vm"}) {}

void ForwardingPair::deliver(std::uint64_t, const PairOrder&) {
  tx.clear_woken();
  const Forwarder::Kicks kicks = guest.take_kicks();
  const std::uint64_t kick_ps = guest.core().now();
  if (kicks.tx || kicks.rx)
    record_flow(TraceFlowKind::kKick, guest.core(), kick_ps, *rx.queue.context.core);
  if (kicks.tx) tx_served.wake(kick_ps);
  if (kicks.rx) rx_served.wake(kick_ps);
  deliver_arrival(rx, rx_served);
}

void ForwardingPair::end(std::uint64_t, bool, const PairOrder&) {}

void ForwardingPair::add_to(RunResult& r, Core& control) {
  add_tx(r, tx);
  add_rx(r, rx);
  r.dropped += guest.dropped();
  r.kicks += guest.kicks();
  collect_mapping(r, rx.queue, control);
  collect_mapping(r, tx.queue, control);
}

}  // namespace vringlab::sim
