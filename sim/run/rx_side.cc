#include "sim/run/rx_side.h"

namespace vringlab::sim {
namespace {

NetRxConfig device_config(const Scenario& s) {
  return {.dequeue_batch = s.batch,
          .used_batch = s.batch,
          .mergeable = s.mergeable,
          .weight = {.packets = s.weight_packets, .bytes = s.weight_bytes}};
}

SenderWork work_of_sender(const Scenario& s) {
  if (s.sender != "udp") return {};
  return {.frame = {.put = Op::kHostSend, .full = Op::kHostSendFull}, .wake = Cost::kReaderWake};
}

}  // namespace

RxLayout place_rx(const Scenario& s, Layout& guest, std::uint64_t& host_bytes,
                  std::uint32_t buffers) {
  const RxLayout layout{
      .queue = guest.place_queue(s, buffers, s.rx_buffer_bytes),
      .tap = {.entries = s.tap_entries, .dequeued = s.batch, .frame_bytes = s.packet_bytes},
      .begin = host_bytes};
  host_bytes += align_to_line(static_cast<std::uint32_t>(TapRing::memory_bytes(layout.tap)));
  return layout;
}

RxSide::RxSide(NetMachine& net, const Scenario& s, const RxLayout& layout, Core& guest,
               Core& worker, Core& control, Core& generator_core, std::size_t stream,
               bool skip_losses)
    : queue(net, s, layout.queue, guest, worker, control),
      latency(std::bit_ceil(std::uint64_t{s.tap_entries} + s.batch + 1)),
      tap(queue.context, net.host_bytes().subspan(layout.begin, TapRing::memory_bytes(layout.tap)),
          layout.tap, latency),
      rx(queue.device_ring(), tap, queue.caller, device_config(s), 1),
      device(rx),
      generator(generator_core, tap, work_of_sender(s), s.packet_bytes,
                Arrivals(period_ps(s.offered_pps), s.arrival == "poisson", s.seed + stream),
                skip_losses) {}

void RxSide::stop(Core& core) {
  Core* const worker = std::exchange(queue.context.core, &core);
  device.reset();
  queue.context.core = worker;
  queue.mapping.tear_down(core);
}

void RxSide::start(Core& core, const QueueConfig& ring) {
  queue.move_to(ring, core);
  rx.restart(queue.device_ring());
}

}  // namespace vringlab::sim
