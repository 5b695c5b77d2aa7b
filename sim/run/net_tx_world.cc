#include "sim/run/net_tx_world.h"

#include <cmath>

namespace vringlab::sim {
TestpmdConfig testpmd_config(const Scenario& s) {
  const bool pktgen = s.guest == "vm-pktgen";
  return {.packets = s.packets,
          .frame_bytes = s.packet_bytes,
          .burst = s.offered_pps > 0 || pktgen ? 1 : s.guest_burst,
          .split_header = s.split_header,
          .interrupts = s.guest_notify == "interrupt" || pktgen,
          .exits = s.guest == "vm" || pktgen,
          .skip_polls = s.skip_polls,
          .pktgen = pktgen};
}

TxLayout lay_out_tx(const Scenario& s, MemorySizes& sizes) {
  Layout guest(s.ring_offset);
  // The ring comes first: ring_remote counts on it.
  const TxLayout layout =
      place_tx(s, guest, sizes.host_bytes, s.ring_size + s.guest_burst, s.packet_bytes);
  sizes.guest_bytes = guest.end();
  return layout;
}

NetTxWorld::NetTxWorld(const Scenario& s)
    : layout_(lay_out_tx(s, sizes_)),
      net(s, sizes_, find_sink(s.sink).is_read() ? 4 : 3),
      guest_core(net.machine, kGuestCore, net.operations, net.tlb_pages()),
      worker_core(net.machine, kWorkerCore, net.operations, net.tlb_pages()),
      control_core(net.machine, kControlCore, net.operations, net.tlb_pages()),
      reader_core(net.sink.is_read() ? std::make_unique<Core>(net.machine, kReaderCore,
                                                              net.operations, net.tlb_pages())
                                     : nullptr),
      tx(net, s, layout_, guest_core, worker_core, control_core, reader_core.get()),
      worker(worker_core, tx.device, tx.queue.context, tx.queue.mapping, tx.queue.ring(),
             {.busy_poll_ps = static_cast<std::uint64_t>(std::llround(s.busy_poll_us * 1e6)),
              .inline_packets = s.inline_packets}),
      guest(guest_core, tx.queue.driver, tx.queue.frames(), testpmd_config(s),
            Arrivals(period_ps(s.offered_pps), s.arrival == "poisson", s.seed), tx.latency,
            KickHost<Worker>{&worker, &tx.queue.bells, s.inline_packets > 0}),
      invalidator(control_core, tx.queue.mapping, tx.queue.context,
                  period_ps(s.invalidations_per_s), page_span(0, sizes_.guest_bytes)) {
  net.machine.coherence.set_distance(kGuestCore, kWorkerCore, distance_of(s.distance));
  if (s.ring_remote)
    net.machine.remote_lines = static_cast<LineId>(layout_.queue.tables.value / kCacheLineBytes);
}

}  // namespace vringlab::sim
