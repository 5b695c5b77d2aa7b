#include "sim/run/tx_side.h"

namespace vringlab::sim {
namespace {

constexpr std::uint32_t kNicSlots = 512;  // of a NIC's transmit ring

// Chunks of page fragments for every buffer that may be out: a batch, what is staged
// and what is held behind the sink, and two more, as the tail of a chunk is lost when
// it is left.
std::uint64_t frag_bytes(const Scenario& s, std::uint32_t held) {
  const std::uint64_t buffers = s.batch + s.copy_batch + held;
  const std::uint64_t longest =
      std::min(xdp_buffer_bytes(s.packet_bytes, true), kXdpBufferMaxBytes);
  const std::uint64_t per_chunk = kFragChunkBytes / longest;
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
  const std::uint32_t held = find_sink(s.sink).held;
  const TxLayout layout{.queue = guest.place_queue(s, buffers, frame_bytes),
                        .begin = host_bytes,
                        .frag_bytes = frag_bytes(s, held),
                        .skb_bytes = SkbMemory::memory_bytes(s.packet_bytes, held)};
  host_bytes += layout.frag_bytes + layout.skb_bytes;
  return layout;
}

TxSide::TxSide(NetMachine& net, const Scenario& s, const TxLayout& layout, Core& guest,
               Core& worker, Core& control)
    : queue(net, s, layout.queue, guest, worker, control),
      latency(s.ring_size),
      frags(queue.context, net.host_bytes().subspan(layout.begin, layout.frag_bytes)),
      sink(net.sink, queue.context, frags,
           SkbMemory(net.host_bytes().subspan(layout.begin + layout.frag_bytes, layout.skb_bytes),
                     s.packet_bytes, net.sink.held),
           NicRate(period_ps(s.nic_pps), kNicSlots), latency),
      device(queue.device_ring(), frags, sink, queue.caller, device_config(net, s), 1) {}

}  // namespace vringlab::sim
