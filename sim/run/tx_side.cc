#include "sim/run/tx_side.h"

namespace vringlab::sim {
namespace {

constexpr std::uint32_t kNicSlots = 512;  // of a NIC's transmit ring

// Frames that may be behind the sink: in the ring, and the one being read.
std::uint32_t held_behind(const Scenario& s, const SinkKind& sink) {
  return sink.is_read() ? s.tap_entries + 1 : sink.held;
}

// Chunks of page fragments for every buffer that may be out: a batch, what is staged
// and what is held behind the sink, and two more, as the tail of a chunk is lost when
// it is left. Behind a ring that loses frames, those that it kept may be far apart.
std::uint64_t frag_bytes(const Scenario& s, const SinkKind& sink) {
  const std::uint64_t buffers = s.batch + s.copy_batch + held_behind(s, sink);
  const std::uint64_t longest =
      std::min(xdp_buffer_bytes(s.packet_bytes, true), kXdpBufferMaxBytes);
  const std::uint64_t per_chunk = sink.is_read() ? 1 : kFragChunkBytes / longest;
  return (buffers / per_chunk + 2) * kFragChunkBytes;
}

NetTxConfig device_config(const NetMachine& net, const Scenario& s) {
  return {.batch = s.batch,
          .copy_batch = s.copy_batch,
          .header_bytes = sizeof(VirtioNetHdr),
          .socket = {.batches = s.tx_batching, .headroom = net.sink.program},
          .weight = {.packets = s.weight_packets, .bytes = s.weight_bytes}};
}

}  // namespace

TxLayout place_tx(const Scenario& s, Layout& guest, std::uint64_t& host_bytes,
                  std::uint32_t buffers, std::uint32_t frame_bytes) {
  const SinkKind& sink = find_sink(s.sink);
  const TxLayout layout{.queue = guest.place_queue(s, buffers, frame_bytes),
                        .begin = host_bytes,
                        .frag_bytes = frag_bytes(s, sink),
                        .skb_bytes = SkbMemory::memory_bytes(s.packet_bytes, held_behind(s, sink)),
                        .ring_bytes = sink.is_read() ? TapReader::memory_bytes(s.tap_entries) : 0};
  host_bytes += layout.frag_bytes + layout.skb_bytes + layout.ring_bytes;
  return layout;
}

TxSide::TxSide(NetMachine& net, const Scenario& s, const TxLayout& layout, Core& guest,
               Core& worker, Core& control, Core* reader_core)
    : queue(net, s, layout.queue, guest, worker, control),
      latency(s.ring_size),
      frags(queue.context, net.host_bytes().subspan(layout.begin, layout.frag_bytes)),
      reader(reader_core == nullptr
                 ? nullptr
                 : std::make_unique<TapReader>(
                       *reader_core,
                       net.host_bytes().subspan(layout.begin + layout.frag_bytes + layout.skb_bytes,
                                                layout.ring_bytes),
                       s.tap_entries, frags)),
      sink(net.sink, queue.context, frags,
           SkbMemory(net.host_bytes().subspan(layout.begin + layout.frag_bytes, layout.skb_bytes),
                     s.packet_bytes, held_behind(s, net.sink)),
           NicRate(period_ps(s.nic_pps), kNicSlots), latency, ToReader{reader.get()}),
      device(queue.device_ring(), frags, sink, queue.caller, device_config(net, s), 1) {}

}  // namespace vringlab::sim
