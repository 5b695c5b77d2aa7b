#include "sim/run/pairs_world.h"

#include "sim/run/net_tx_world.h"

namespace vringlab::sim {
namespace {

constexpr std::uint32_t kNicSlots = 512;  // of a NIC's transmit ring

std::uint64_t skb_bytes(const Scenario& s) {
  return SkbMemory::memory_bytes(s.packet_bytes, find_sink(s.sink).held);
}

std::vector<PairLayout> lay_out(const Scenario& s, MemorySizes& sizes) {
  std::vector<PairLayout> layouts(s.queue_pairs);
  Layout guest(s.ring_offset);
  for (PairLayout& layout : layouts) {
    // Both queues use the receive queue's buffers.
    layout.rx = guest.place_queue(s, 2 * s.ring_size + s.guest_burst, s.rx_buffer_bytes);
    layout.tx = guest.place_queue(s, 0, s.rx_buffer_bytes);
    layout.tap = {.entries = s.tap_entries, .dequeued = s.batch, .frame_bytes = s.packet_bytes};
    layout.frag_begin = sizes.host_bytes;
    layout.frag_bytes = frag_bytes(s);
    sizes.host_bytes +=
        layout.frag_bytes + skb_bytes(s) +
        align_to_line(static_cast<std::uint32_t>(TapRing::memory_bytes(layout.tap)));
  }
  sizes.guest_bytes = guest.end();
  return layouts;
}

std::span<std::byte> part(const NetMachine& net, std::uint64_t begin, std::uint64_t bytes) {
  return net.host_bytes().subspan(begin, bytes);
}

NetTxConfig tx_config(const NetMachine& net, const Scenario& s) {
  return {.batch = s.batch,
          .copy_batch = s.copy_batch,
          .socket = {.batches = s.tx_batching, .headroom = net.sink.program},
          .weight = {.packets = s.weight_packets, .bytes = s.weight_bytes}};
}

NetRxConfig rx_config(const Scenario& s) {
  return {.dequeue_batch = s.batch,
          .used_batch = s.batch,
          .mergeable = s.mergeable,
          .weight = {.packets = s.weight_packets, .bytes = s.weight_bytes}};
}

}  // namespace

QueuePair::QueuePair(NetMachine& net, const Scenario& s, const PairLayout& layout, Core& guest_core,
                     Core& generator_core, Core& worker, Core& control)
    : rx_queue(net, s, layout.rx, guest_core, worker, control),
      tx_queue(net, s, layout.tx, guest_core, worker, control),
      rx_latency(std::bit_ceil(std::uint64_t{s.tap_entries} + s.batch + 1)),
      tx_latency(s.ring_size),
      tap(rx_queue.context,
          part(net, layout.frag_begin + layout.frag_bytes + skb_bytes(s),
               TapRing::memory_bytes(layout.tap)),
          layout.tap, rx_latency),
      frags(tx_queue.context, part(net, layout.frag_begin, layout.frag_bytes)),
      sink(net.sink, tx_queue.context, frags,
           SkbMemory(part(net, layout.frag_begin + layout.frag_bytes, skb_bytes(s)), s.packet_bytes,
                     net.sink.held),
           NicRate(period_ps(s.nic_pps), kNicSlots), tx_latency),
      rx(rx_queue.device_ring(), tap, rx_queue.caller, rx_config(s), 1),
      rx_device(rx),
      tx(tx_queue.device_ring(), frags, sink, tx_queue.caller, tx_config(net, s), 1),
      rx_task(rx_device, Op::kUnmodelledRxLate),
      tx_task(tx, Op::kUnmodelledLate),
      guest(guest_core, rx_queue.driver, tx_queue.driver, rx_queue.frames(),
            {.buffer_bytes = s.rx_buffer_bytes,
             .burst = s.guest_burst,
             .mac_swap = s.workload == "macswap",
             .exits = s.guest == "vm"}),
      generator(generator_core, tap, s.packet_bytes,
                Arrivals(period_ps(s.offered_pps), s.arrival == "poisson", s.seed), false) {}

Core& PairsWorld::new_core() {
  return cores.emplace_back(net.machine, static_cast<CoreId>(cores.size()), net.operations,
                            net.tlb_pages());
}

std::vector<Core*> PairsWorld::new_cores(std::uint32_t count) {
  std::vector<Core*> made;
  for (std::uint32_t i = 0; i < count; ++i) made.push_back(&new_core());
  return made;
}

PairsWorld::PairsWorld(const Scenario& s)
    : layouts_(lay_out(s, sizes_)),
      net(s, sizes_, static_cast<CoreId>(1 + s.workers + 2 * s.queue_pairs)),
      control_core(new_core()),
      worker_cores(new_cores(s.workers)),
      guest_cores(new_cores(s.queue_pairs)),
      generator_cores(new_cores(s.queue_pairs)) {
  for (Core* core : worker_cores) threads.add(*core);
  for (std::size_t i = 0; i < layouts_.size(); ++i) {
    const std::size_t worker = i % worker_cores.size();
    QueuePair& pair = *pairs.emplace_back(
        std::make_unique<QueuePair>(net, s, layouts_[i], *guest_cores[i], *generator_cores[i],
                                    *worker_cores[worker], control_core));
    pair.thread = &threads[worker];
    pair.thread->serve(pair.tx_task);
    pair.thread->serve(pair.rx_task);
    net.machine.coherence.set_distance(guest_cores[i]->id(), worker_cores[worker]->id(),
                                       distance_of(s.distance));
  }
}

}  // namespace vringlab::sim
