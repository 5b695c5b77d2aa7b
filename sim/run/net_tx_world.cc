#include "sim/run/net_tx_world.h"

#include <cmath>
#include <type_traits>

namespace vringlab::sim {
TestpmdConfig testpmd_config(const Scenario& s) {
  const bool kernel = s.guest == "vm-pktgen";
  return {.packets = s.packets,
          .frame_bytes = s.packet_bytes,
          .burst = s.offered_pps > 0 || kernel ? 1 : s.guest_burst,
          .split_header = s.split_header,
          .interrupts = s.guest_notify == "interrupt" || kernel,
          .exits = s.guest == "vm" || kernel,
          .skip_polls = s.skip_polls,
          .source = kernel ? TxSource::kPktgen : TxSource::kPmd};
}

TxLayout lay_out_tx(const Scenario& s, MemorySizes& sizes) {
  Layout guest(s.ring_offset);
  // The ring comes first: ring_remote counts on it.
  const TxLayout layout =
      place_tx(s, guest, sizes.host_bytes, s.ring_size + s.guest_burst, s.packet_bytes);
  sizes.guest_bytes = guest.end();
  return layout;
}

namespace {

template <class Guest>
TxLayout lay_out(const Scenario& s, MemorySizes& sizes, XskLayout& xsk) {
  if constexpr (!HasApp<Guest>) return lay_out_tx(s, sizes);
  Layout guest(s.ring_offset);
  const TxLayout layout = place_tx(s, guest, sizes.host_bytes, 0, s.packet_bytes);
  xsk = place_xsk(s, guest);
  sizes.guest_bytes = guest.end();
  return layout;
}

template <class Guest>
bool has_fourth_core(const Scenario& s) {
  return HasApp<Guest> || find_sink(s.sink).is_read();
}

UdpSenderConfig udp_config(const Scenario& s) {
  return {.packets = s.packets, .frame_bytes = s.packet_bytes, .napi_tx = s.napi_tx};
}

XskSenderConfig xsk_config(const Scenario& s) {
  return {.packets = s.packets,
          .frame_bytes = s.packet_bytes,
          .burst = s.offered_pps > 0 ? 1 : s.guest_burst};
}

}  // namespace

template <class Guest>
NetTxWorld<Guest>::NetTxWorld(const Scenario& s)
    : layout_(lay_out<Guest>(s, sizes_, xsk_)),
      net(s, sizes_, has_fourth_core<Guest>(s) ? 4 : 3),
      guest_core(net.machine, kGuestCore, net.operations, net.tlb_pages()),
      worker_core(net.machine, kWorkerCore, net.operations, net.tlb_pages()),
      control_core(net.machine, kControlCore, net.operations, net.tlb_pages()),
      fourth_core(
          has_fourth_core<Guest>(s)
              ? std::make_unique<Core>(net.machine, kFourthCore, net.operations, net.tlb_pages())
              : nullptr),
      tx(net, s, layout_, guest_core, worker_core, control_core,
         HasApp<Guest> ? nullptr : fourth_core.get()),
      dma(s, net, {}, tx.queue),
      worker(worker_core, tx.device, tx.queue.context, tx.queue.mapping, tx.queue.ring(),
             {.busy_poll_ps = static_cast<std::uint64_t>(std::llround(s.busy_poll_us * 1e6)),
              .inline_packets = s.inline_packets}),
      guest(make_guest(s)),
      invalidator(control_core, tx.queue.mapping, tx.queue.context,
                  period_ps(s.invalidations_per_s), page_span(0, sizes_.guest_bytes)) {
  net.machine.coherence.set_distance(kGuestCore, kWorkerCore, distance_of(s.distance));
  if (s.ring_remote)
    net.machine.remote_lines = static_cast<LineId>(layout_.queue.tables.value / kCacheLineBytes);
}

template <class Guest>
Guest NetTxWorld<Guest>::make_guest(const Scenario& s) {
  const Arrivals arrivals(period_ps(s.offered_pps), s.arrival == "poisson", s.seed);
  const KickHost<Worker> kick_host{&worker, &tx.queue.bells, s.inline_packets > 0};
  if constexpr (HasApp<Guest>) {
    return {guest_core,    *fourth_core, tx.queue.driver, dma.iommu, {xsk_, net.guest_bytes()},
            xsk_config(s), arrivals,     tx.latency,      kick_host};
  } else if constexpr (std::is_same_v<Guest, UdpTxGuest>) {
    return {guest_core, tx.queue.driver, tx.queue.frames(), udp_config(s),
            arrivals,   tx.latency,      kick_host};
  } else {
    return {guest_core, tx.queue.driver, tx.queue.frames(), testpmd_config(s),
            arrivals,   tx.latency,      kick_host};
  }
}

template class NetTxWorld<PmdSender>;
template class NetTxWorld<UdpTxGuest>;
template class NetTxWorld<XskTxGuest>;

}  // namespace vringlab::sim
