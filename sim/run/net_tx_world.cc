#include "sim/run/net_tx_world.h"

#include <cmath>

namespace vringlab::sim {
namespace {

constexpr std::uint32_t kNicSlots = 512;  // of a NIC's transmit ring

NetTxConfig device_config(const Scenario& s) {
  return {.batch = s.batch,
          .copy_batch = s.copy_batch,
          .header_bytes = sizeof(VirtioNetHdr),
          .socket = {.batches = s.tx_batching, .headroom = find_sink(s.sink).program},
          .weight = {.packets = s.weight_packets, .bytes = s.weight_bytes}};
}

}  // namespace

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

std::uint64_t frag_bytes(const Scenario& s) {
  const std::uint64_t buffers = s.batch + s.copy_batch + find_sink(s.sink).held;
  const std::uint64_t longest =
      std::min(xdp_buffer_bytes(s.packet_bytes, true), kXdpBufferMaxBytes);
  const std::uint64_t per_chunk = kFragChunkBytes / longest;
  return (buffers / per_chunk + 2) * kFragChunkBytes;
}

TxLayout lay_out_tx(const Scenario& s) {
  TxLayout layout;
  Layout guest(s.ring_offset);
  // The ring comes first: ring_remote counts on it.
  layout.queue = guest.place_queue(s, s.ring_size + s.guest_burst, s.packet_bytes);
  layout.frag_bytes = frag_bytes(s);
  layout.sizes = {guest.end(), layout.frag_bytes +
                                   SkbMemory::memory_bytes(s.packet_bytes, find_sink(s.sink).held)};
  return layout;
}

NetTxWorld::NetTxWorld(const Scenario& s)
    : layout_(lay_out_tx(s)),
      net(s, layout_.sizes, 3),
      guest_core(net.machine, kGuestCore, net.operations, net.tlb_pages()),
      worker_core(net.machine, kWorkerCore, net.operations, net.tlb_pages()),
      control_core(net.machine, kControlCore, net.operations, net.tlb_pages()),
      queue(net, s, layout_.queue, guest_core, worker_core, control_core),
      latency(s.ring_size),
      frags(queue.context, net.host_bytes().first(layout_.frag_bytes)),
      sink(net.sink, queue.context, frags,
           SkbMemory(net.host_bytes().subspan(layout_.frag_bytes), s.packet_bytes, net.sink.held),
           NicRate(period_ps(s.nic_pps), kNicSlots), latency),
      device(queue.device_ring(), frags, sink, queue.caller, device_config(s), 1),
      worker(worker_core, device, queue.context, queue.mapping, queue.ring(),
             {.busy_poll_ps = static_cast<std::uint64_t>(std::llround(s.busy_poll_us * 1e6)),
              .inline_packets = s.inline_packets}),
      guest(guest_core, queue.driver, queue.frames(), testpmd_config(s),
            Arrivals(period_ps(s.offered_pps), s.arrival == "poisson", s.seed), latency,
            KickHost<Worker>{&worker, &queue.bells, s.inline_packets > 0}),
      invalidator(control_core, queue.mapping, queue.context, period_ps(s.invalidations_per_s),
                  page_span(0, layout_.sizes.guest_bytes)) {
  net.machine.coherence.set_distance(kGuestCore, kWorkerCore, distance_of(s.distance));
  if (s.ring_remote)
    net.machine.remote_lines = static_cast<LineId>(layout_.queue.tables.value / kCacheLineBytes);
}

}  // namespace vringlab::sim
