#include "sim/run/stream_world.h"

namespace vringlab::sim {
namespace {

constexpr std::uint32_t kLongestFrame = kTcpHeaders + kTcpMaxPayload;

std::uint64_t frag_bytes(const Scenario& s) {
  return (std::uint64_t{s.batch} / (kFragChunkBytes / kXdpBufferMaxBytes) + 2) * kFragChunkBytes;
}

// Kernel guests negotiate both.
Scenario with_kernel_guest(Scenario s) {
  s.event_idx = s.indirect = true;
  return s;
}

}  // namespace

StreamLayout lay_out_stream(const Scenario& given) {
  const Scenario s = with_kernel_guest(given);
  StreamLayout layout;
  Layout guest(s.ring_offset);
  layout.tx = guest.place_queue(s, s.ring_size, kLongestFrame);
  layout.rx = guest.place_queue(s, s.ring_size, s.rx_buffer_bytes);
  layout.tap = {.entries = s.tap_entries, .dequeued = s.batch, .frame_bytes = kTcpHeaders};
  layout.frag_bytes = frag_bytes(s);
  layout.sizes = {guest.end(), layout.frag_bytes + SkbMemory::memory_bytes(kLongestFrame, 0) +
                                   TapRing::memory_bytes(layout.tap)};
  return layout;
}

Core& StreamWorld::new_core() {
  return cores.emplace_back(net.machine, static_cast<CoreId>(cores.size()), net.operations,
                            net.tlb_pages());
}

StreamWorld::StreamWorld(const Scenario& s)
    : layout_(lay_out_stream(s)),
      net(s, layout_.sizes, static_cast<CoreId>(2 + s.vcpus + s.sessions)),
      worker_core(new_core()),
      control_core(new_core()),
      guest_cores([&] {
        std::vector<Core*> made;
        for (std::uint32_t i = 0; i < s.vcpus; ++i) made.push_back(&new_core());
        return made;
      }()),
      reader_cores([&] {
        std::vector<Core*> made;
        for (std::uint32_t i = 0; i < s.sessions; ++i) made.push_back(&new_core());
        return made;
      }()),
      tx_queue(net, with_kernel_guest(s), layout_.tx, *guest_cores[0], worker_core, control_core),
      rx_queue(net, with_kernel_guest(s), layout_.rx, *guest_cores[0], worker_core, control_core),
      tx_latency(s.ring_size),
      rx_latency(std::bit_ceil(std::uint64_t{s.tap_entries} + s.batch + 1)),
      tap(rx_queue.context,
          net.host_bytes().subspan(layout_.frag_bytes + SkbMemory::memory_bytes(kLongestFrame, 0)),
          layout_.tap, rx_latency),
      frags(tx_queue.context, net.host_bytes().first(layout_.frag_bytes)),
      sink(net.sink, tx_queue.context, frags,
           SkbMemory(net.host_bytes().subspan(layout_.frag_bytes), kLongestFrame, 0), NicRate(0, 0),
           tx_latency, StreamEnd(readers, tap, acked, s.sessions, s.workload == "stream")),
      tx(tx_queue.device_ring(), frags, sink, tx_queue.caller,
         {.batch = s.batch,
          .copy_batch = s.copy_batch,
          .socket = {.batches = s.tx_batching, .headroom = net.sink.program},
          .weight = {.packets = s.weight_packets, .bytes = s.weight_bytes}},
         1),
      rx(rx_queue.device_ring(), tap, rx_queue.caller,
         {.dequeue_batch = s.batch,
          .used_batch = s.batch,
          .mergeable = s.mergeable,
          .weight = {.packets = s.weight_packets, .bytes = s.weight_bytes}},
         1),
      rx_device(rx),
      tx_task(tx, Op::kUnmodelledLate),
      rx_task(rx_device, Op::kUnmodelledRxLate),
      worker_share(worker_core),
      thread(worker_share),
      stack(tx_queue.driver, tx_queue.frames(), rx_queue.driver, rx_queue.frames(), *guest_cores[0],
            {.message_bytes = s.message_bytes,
             .send_buffer = s.send_buffer_bytes,
             .rx_buffer_bytes = s.rx_buffer_bytes,
             .requests = s.workload == "rr"},
            s.sessions) {
  for (std::uint16_t i = 0; i < s.sessions; ++i)
    readers.add(*reader_cores[i], i, s.workload == "rr" ? &tap : nullptr, acked);
  for (Core* core : guest_cores) guest.add(*core, stack);
  for (std::uint32_t i = 0; i < s.sessions; ++i) cpu_of(i).run_session(i);
  thread.serve(tx_task);
  thread.serve(rx_task);
  for (const Core* core : guest_cores)
    net.machine.coherence.set_distance(core->id(), kWorkerCore, distance_of(s.distance));
}

}  // namespace vringlab::sim
