#include "sim/run/net_rx_world.h"

#include <cmath>

namespace vringlab::sim {
namespace {

NetRxConfig device_config(const Scenario& s) {
  return {.dequeue_batch = s.batch,
          .used_batch = s.batch,
          .mergeable = s.mergeable,
          .weight = {.packets = s.weight_packets, .bytes = s.weight_bytes}};
}

ReceiverConfig guest_config(const Scenario& s) {
  return {.packets = s.packets,
          .buffer_bytes = s.rx_buffer_bytes,
          .burst = s.guest_burst,
          .interrupts = s.guest_notify == "interrupt",
          .exits = s.guest == "vm",
          .skip_polls = s.skip_polls};
}

}  // namespace

RxLayout lay_out_rx(const Scenario& s) {
  RxLayout layout;
  Layout guest(s.ring_offset);
  layout.queue = guest.place_queue(s, s.ring_size, s.rx_buffer_bytes);
  layout.tap = {.entries = s.tap_entries, .dequeued = s.batch, .frame_bytes = s.packet_bytes};
  layout.sizes = {guest.end(), TapRing::memory_bytes(layout.tap)};
  return layout;
}

NetRxWorld::NetRxWorld(const Scenario& s)
    : layout_(lay_out_rx(s)),
      net(s, layout_.sizes, 4),
      guest_core(net.machine, kGuestCore, net.operations, net.tlb_pages()),
      worker_core(net.machine, kWorkerCore, net.operations, net.tlb_pages()),
      control_core(net.machine, kControlCore, net.operations, net.tlb_pages()),
      generator_core(net.machine, kGeneratorCore, net.operations, net.tlb_pages()),
      queue(net, s, layout_.queue, guest_core, worker_core, control_core),
      latency(std::bit_ceil(std::uint64_t{s.tap_entries} + s.batch + 1)),
      tap(queue.context, net.host_bytes(), layout_.tap, latency),
      rx(queue.device_ring(), tap, queue.caller, device_config(s), 1),
      device(rx),
      worker(worker_core, device, queue.context, queue.mapping, queue.ring(),
             {.busy_poll_ps = static_cast<std::uint64_t>(std::llround(s.busy_poll_us * 1e6)),
              .late = Op::kUnmodelledRxLate}),
      guest(guest_core, queue.driver, queue.frames(), guest_config(s),
            KickHost<Worker>{&worker, &queue.bells, false}),
      invalidator(control_core, queue.mapping, queue.context, period_ps(s.invalidations_per_s),
                  page_span(0, layout_.sizes.guest_bytes)),
      generator(generator_core, tap, s.packet_bytes,
                Arrivals(period_ps(s.offered_pps), s.arrival == "poisson", s.seed),
                s.skip_polls && s.offered_pps == 0) {
  net.machine.coherence.set_distance(kGuestCore, kWorkerCore, distance_of(s.distance));
  if (s.ring_remote)
    net.machine.remote_lines = static_cast<LineId>(layout_.queue.tables.value / kCacheLineBytes);
}

}  // namespace vringlab::sim
