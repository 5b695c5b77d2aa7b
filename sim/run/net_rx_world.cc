#include "sim/run/net_rx_world.h"

#include <cmath>

namespace vringlab::sim {
namespace {

// Half as large, and of size 0 where the ring is not resized.
QueueConfig place_other_ring(Scenario s, Layout& guest) {
  if (s.resizes_per_s == 0) return {};
  s.ring_size /= 2;
  return guest.place_ring(s, 0).ring;
}

RxLayout lay_out(const Scenario& s, MemorySizes& sizes, KernelRxLayout& kernel, XskLayout& xsk,
                 QueueConfig& other) {
  Layout guest(s.ring_offset);
  // Guests whose kernel receives have buffers of another kind.
  const bool own = cuts_buffers(s) || s.guest == "vm-xsk";
  const RxLayout layout = place_rx(s, guest, sizes.host_bytes, own ? 0 : s.ring_size);
  kernel = place_kernel_rx(s, guest);
  if (s.guest == "vm-xsk") xsk = place_xsk(s, guest);
  other = place_other_ring(s, guest);
  sizes.guest_bytes = guest.end();
  return layout;
}

}  // namespace

ReceiverConfig receiver_config(const Scenario& s) {
  return {.packets = s.packets,
          .buffer_bytes = s.rx_buffer_bytes,
          .burst = s.guest_burst,
          .interrupts = s.guest_notify == "interrupt",
          .exits = s.guest == "vm",
          .skip_polls = s.skip_polls};
}

template <class Guest>
NetRxWorld<Guest>::NetRxWorld(const Scenario& s)
    : layout_(lay_out(s, sizes_, kernel_, xsk_, other_)),
      net(s, sizes_, HasApp<Guest> ? 5 : 4),
      guest_core(net.machine, kGuestCore, net.operations, net.tlb_pages()),
      worker_core(net.machine, kWorkerCore, net.operations, net.tlb_pages()),
      control_core(net.machine, kControlCore, net.operations, net.tlb_pages()),
      generator_core(net.machine, kGeneratorCore, net.operations, net.tlb_pages()),
      app_core(HasApp<Guest>
                   ? std::make_unique<Core>(net.machine, kAppCore, net.operations, net.tlb_pages())
                   : nullptr),
      rx(net, s, layout_, guest_core, worker_core, control_core, generator_core, 0,
         s.skip_polls && s.offered_pps == 0),
      dma(s, net, kernel_.pool, rx.queue),
      worker(worker_core, rx.device, rx.queue.context, rx.queue.mapping, rx.queue.ring(),
             {.busy_poll_ps = static_cast<std::uint64_t>(std::llround(s.busy_poll_us * 1e6)),
              .late = Op::kUnmodelledRxLate}),
      guest(make_guest(s)),
      invalidator(control_core, rx.queue.mapping, rx.queue.context,
                  period_ps(s.invalidations_per_s), page_span(0, sizes_.guest_bytes)),
      resize_timer(control_core, rx.queue.bells, period_ps(s.resizes_per_s)) {
  net.machine.coherence.set_distance(kGuestCore, kWorkerCore, distance_of(s.distance));
  if (s.ring_remote)
    net.machine.remote_lines = static_cast<LineId>(layout_.queue.tables.value / kCacheLineBytes);
}

template <class Guest>
KernelReceiverConfig NetRxWorld<Guest>::kernel_config(const Scenario& s) {
  return {.buffers = kernel_.fragments, .pool = dma.pool(), .defer_ps = defer_ps(s)};
}

template <class Guest>
RxResizer NetRxWorld<Guest>::resizer() {
  std::vector<RingPlaces::Place> places;
  if (other_.size > 0) {
    for (const QueueConfig& ring : {rx.queue.ring(), other_})
      places.push_back(rx.queue.place(ring, guest_core));
  }
  return {RxTransport(guest_core, rx, worker), RingPlaces(std::move(places))};
}

template <class Guest>
Guest NetRxWorld<Guest>::make_guest(const Scenario& s) {
  const KickHost<Worker> kick_host{&worker, &rx.queue.bells, false};
  if constexpr (std::is_same_v<Guest, PmdReceiver>) {
    return {guest_core, rx.queue.driver, rx.queue.frames(), receiver_config(s), kick_host};
  } else if constexpr (std::is_same_v<Guest, XskRxGuest>) {
    return {
        guest_core,
        *app_core,
        rx.queue.driver,
        dma.iommu,
        XskSocket(xsk_, net.guest_bytes()),
        XskReceiverConfig{.packets = s.packets, .burst = s.guest_burst, .defer_ps = defer_ps(s)},
        kick_host};
  } else if constexpr (HasApp<Guest>) {
    return {guest_core,
            *app_core,
            rx.queue.driver,
            dma.iommu,
            net.guest_bytes(),
            kernel_config(s),
            {.packets = s.packets, .receive_buffer_bytes = s.receive_buffer_bytes},
            kick_host};
  } else {
    return {guest_core,        guest_core,       rx.queue.driver,        dma.iommu,
            net.guest_bytes(), kernel_config(s), {.packets = s.packets}, kick_host,
            resizer()};
  }
}

template class NetRxWorld<PmdReceiver>;
template class NetRxWorld<MergedReceiver>;
template class NetRxWorld<PerBufferReceiver>;
template class NetRxWorld<MergedUdpGuest>;
template class NetRxWorld<PerBufferUdpGuest>;
template class NetRxWorld<XskRxGuest>;

}  // namespace vringlab::sim
