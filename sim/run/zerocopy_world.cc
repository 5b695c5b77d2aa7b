#include "sim/run/zerocopy_world.h"

#include <cmath>

namespace vringlab::sim {
namespace {

constexpr std::uint32_t kNicSlots = 512;  // of a NIC's transmit ring

NetTxZeroCopyConfig device_config(const Scenario& s) {
  return {.zerocopy_min_bytes = s.zerocopy_min_bytes,
          .used_batch = s.batch,
          .weight = {.packets = s.weight_packets, .bytes = s.weight_bytes}};
}

}  // namespace

ZeroCopyWorld::ZeroCopyWorld(const Scenario& s)
    : layout_(lay_out_tx(s, sizes_)),
      net(s, sizes_, 4),
      guest_core(net.machine, kGuestCore, net.operations, net.tlb_pages()),
      worker_core(net.machine, kWorkerCore, net.operations, net.tlb_pages()),
      control_core(net.machine, kControlCore, net.operations, net.tlb_pages()),
      nic_core(net.machine, kNicCore, net.operations, net.tlb_pages()),
      queue(net, s, layout_.queue, guest_core, worker_core, control_core),
      latency(s.ring_size),
      frags(queue.context, net.host_bytes().first(layout_.frag_bytes)),
      nic(nic_core, s.ring_size),
      sink(net.sink, queue.context, frags,
           SkbMemory(net.host_bytes().subspan(layout_.frag_bytes), s.packet_bytes, net.sink.held),
           NicRate(period_ps(s.nic_pps), kNicSlots), latency, ToNic{&nic}),
      device(queue.device_ring(), sink, queue.caller, device_config(s), 1),
      worker(worker_core, device, queue.context, queue.mapping, queue.ring(),
             {.busy_poll_ps = static_cast<std::uint64_t>(std::llround(s.busy_poll_us * 1e6)),
              .inline_packets = s.inline_packets}),
      guest(guest_core, queue.driver, queue.frames(), testpmd_config(s),
            Arrivals(period_ps(s.offered_pps), s.arrival == "poisson", s.seed), latency,
            KickHost<Worker>{&worker, &queue.bells, s.inline_packets > 0}),
      invalidator(control_core, queue.mapping, queue.context, period_ps(s.invalidations_per_s),
                  page_span(0, sizes_.guest_bytes)) {
  net.machine.coherence.set_distance(kGuestCore, kWorkerCore, distance_of(s.distance));
  if (s.ring_remote)
    net.machine.remote_lines = static_cast<LineId>(layout_.queue.tables.value / kCacheLineBytes);
}

}  // namespace vringlab::sim
