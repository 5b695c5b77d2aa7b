#include "sim/run/stream_pair.h"

namespace vringlab::sim {
namespace {

constexpr std::uint32_t kLongestFrame = kTcpHeaders + kTcpMaxPayload;

std::uint64_t frag_bytes(const Scenario& s) {
  return (std::uint64_t{s.batch} / (kFragChunkBytes / kXdpBufferMaxBytes) + 2) * kFragChunkBytes;
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

StreamConfig stack_config(const Scenario& s) {
  return {.message_bytes = s.message_bytes,
          .send_buffer = s.send_buffer_bytes,
          .rx_buffer_bytes = s.rx_buffer_bytes,
          .requests = s.workload == "rr"};
}

std::span<std::byte> tap_memory(NetMachine& net, const StreamLayout& layout) {
  return net.host_bytes().subspan(layout.begin + layout.frag_bytes + layout.skb_bytes,
                                  TapRing::memory_bytes(layout.tap));
}

}  // namespace

// Guest kernels negotiate both.
Scenario with_kernel_guest(Scenario s) {
  s.event_idx = s.indirect = true;
  return s;
}

StreamLayout place_stream(const Scenario& s, Layout& guest, std::uint64_t& host_bytes) {
  StreamLayout layout{
      .tx = guest.place_queue(s, s.ring_size, kLongestFrame),
      .rx = guest.place_queue(s, s.ring_size, s.rx_buffer_bytes),
      .tap = {.entries = s.tap_entries, .dequeued = s.batch, .frame_bytes = kTcpHeaders},
      .begin = host_bytes,
      .frag_bytes = frag_bytes(s),
      .skb_bytes = SkbMemory::memory_bytes(kLongestFrame, 0)};
  host_bytes += layout.frag_bytes + layout.skb_bytes +
                align_to_line(static_cast<std::uint32_t>(TapRing::memory_bytes(layout.tap)));
  return layout;
}

StreamPair::StreamPair(NetMachine& net, const Scenario& s, const StreamLayout& layout,
                       StreamCpu& interrupted, Core& control, Group<StreamReader>& readers,
                       Thread& thread)
    : tx_queue(net, s, layout.tx, interrupted.core(), thread.core(), control),
      rx_queue(net, s, layout.rx, interrupted.core(), thread.core(), control),
      tx_latency(s.ring_size),
      rx_latency(std::bit_ceil(std::uint64_t{s.tap_entries} + s.batch + 1)),
      tap(rx_queue.context, tap_memory(net, layout), layout.tap, rx_latency),
      frags(tx_queue.context, net.host_bytes().subspan(layout.begin, layout.frag_bytes)),
      sink(net.sink, tx_queue.context, frags,
           SkbMemory(net.host_bytes().subspan(layout.begin + layout.frag_bytes, layout.skb_bytes),
                     kLongestFrame, 0),
           NicRate(0, 0), tx_latency,
           StreamEnd(readers, tap, acked, s.sessions, s.workload == "stream")),
      tx(tx_queue.device_ring(), frags, sink, tx_queue.caller, tx_config(net, s), 1),
      rx(rx_queue.device_ring(), tap, rx_queue.caller, rx_config(s), 1),
      rx_device(rx),
      tx_served(tx, Op::kUnmodelledLate, thread),
      rx_served(rx_device, Op::kUnmodelledRxLate, thread),
      stack(tx_queue.driver, tx_queue.frames(), rx_queue.driver, rx_queue.frames(),
            interrupted.core(), stack_config(s), s.sessions),
      cpu(&interrupted),
      line(interrupted.add_line(stack)) {}

}  // namespace vringlab::sim
