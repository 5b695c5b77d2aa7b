#include "sim/run/net_tx_world.h"

#include <cmath>
#include <cstring>
#include <new>

namespace vringlab::sim {
namespace {

constexpr std::uint64_t kPicosecondsPerSecond = 1000000000000;
constexpr std::uint16_t kTableEntries = 2;  // header and frame
constexpr std::uint32_t kNicSlots = 512;    // of a NIC's transmit ring

std::uint64_t page_up(std::uint64_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

std::uint64_t period_ps(double per_second) {
  if (per_second <= 0) return 0;
  return static_cast<std::uint64_t>(
      std::llround(static_cast<double>(kPicosecondsPerSecond) / per_second));
}

Distance distance_of(const std::string& name) {
  if (name == "same_ccx") return Distance::kSameCcx;
  return name == "remote" ? Distance::kRemoteSocket : Distance::kSameSocket;
}

// Chunks for every buffer that may be out: a batch, what is staged and what is held
// behind the sink, and two more, as the tail of a chunk is lost when it is left.
std::uint64_t frag_bytes(const Scenario& s) {
  const std::uint64_t buffers = s.batch + s.copy_batch + find_sink(s.sink).held;
  const std::uint64_t longest =
      std::min(xdp_buffer_bytes(s.packet_bytes, true), kXdpBufferMaxBytes);
  const std::uint64_t per_chunk = kFragChunkBytes / longest;
  return (buffers / per_chunk + 2) * kFragChunkBytes;
}

Machine make_machine(const Scenario& s, const HostPreset& host, const KernelPreset& kernel,
                     const TxLayout& layout, const Arena& arena) {
  const auto lines = static_cast<std::uint32_t>(layout.all_bytes() / kCacheLineBytes);
  Coherence coherence(lines, 3, host);
  coherence.set_distance(NetTxWorld::kGuestCore, NetTxWorld::kWorkerCore, distance_of(s.distance));
  Machine machine(resolve_costs(host, kernel, s.costs), std::move(coherence), arena.bytes().data());
  if (s.ring_remote)
    machine.remote_lines = static_cast<LineId>(layout.tables.value / kCacheLineBytes);
  return machine;
}

std::uint32_t tlb_pages(const TxLayout& layout) { return mapped_page(layout.guest_bytes) + 1; }

RingAreas areas_of(const GuestMemory& memory, const QueueConfig& ring) {
  const auto areas = map_ring_areas(memory, ring);
  if (!areas.ok()) throw std::logic_error("ring does not fit its own layout");
  return areas.value();
}

NetTxConfig device_config(const Scenario& s) {
  return {.batch = s.batch,
          .copy_batch = s.copy_batch,
          .header_bytes = sizeof(VirtioNetHdr),
          .socket = {.batches = s.tx_batching, .headroom = find_sink(s.sink).program},
          .weight = {.packets = s.weight_packets, .bytes = s.weight_bytes}};
}

TestpmdConfig guest_config(const Scenario& s) {
  return {.packets = s.packets,
          .frame_bytes = s.packet_bytes,
          .burst = s.offered_pps > 0 ? 1 : s.guest_burst,
          .split_header = s.split_header,
          .interrupts = s.guest_notify == "interrupt",
          .exits = s.guest == "vm",
          .skip_polls = s.skip_polls};
}

}  // namespace

TxLayout lay_out(const Scenario& s) {
  TxLayout layout;
  const std::uint64_t features = feature(kFeatureVersion1) |
                                 (s.event_idx ? feature(kFeatureRingEventIdx) : 0) |
                                 (s.indirect ? feature(kFeatureRingIndirectDesc) : 0);
  std::uint64_t at = s.ring_offset;
  const auto place = [&at](std::uint64_t bytes) {
    const GuestAddr addr{at};
    at = page_up(at + bytes);
    return addr;
  };
  layout.ring = {.size = s.ring_size, .desc = {}, .avail = {}, .used = {}, .features = features};
  // The ring comes first: ring_remote counts on it.
  layout.ring.desc = place(desc_bytes(s.ring_size));
  layout.ring.avail = place(avail_bytes(s.ring_size, true));
  layout.ring.used = place(used_bytes(s.ring_size, true));
  layout.tables = place(s.indirect ? s.ring_size * kTableEntries * sizeof(Desc) : 0);
  layout.frames.count = s.ring_size + s.guest_burst;
  layout.frames.stride = frame_stride(s.packet_bytes);
  layout.frames.base = place(layout.frames.bytes());
  layout.guest_bytes = at;
  layout.frag_bytes = frag_bytes(s);
  layout.skb_bytes = SkbMemory::kBytes;
  return layout;
}

Arena::Arena(std::size_t bytes)
    : size_(page_up(bytes)),
      memory_(static_cast<std::byte*>(std::aligned_alloc(kPageBytes, size_))) {
  if (!memory_) throw std::bad_alloc();
  std::memset(memory_.get(), 0, size_);
}

NetTxWorld::NetTxWorld(const Scenario& s)
    : kernel_(find_kernel(s.kernel)),
      host_(find_host(s.host)),
      sink_(find_sink(s.sink)),
      layout_(lay_out(s)),
      arena_(layout_.all_bytes()),
      machine(make_machine(s, host_, kernel_, layout_, arena_)),
      operations(build_operations(s.plan, kernel_, machine.costs, sink_.costs)),
      guest_core(machine, kGuestCore, operations, tlb_pages(layout_)),
      worker_core(machine, kWorkerCore, operations, tlb_pages(layout_)),
      control_core(machine, kControlCore, operations, tlb_pages(layout_)),
      memory({{GuestAddr{0}, arena_.bytes().first(layout_.guest_bytes)}}),
      context{.core = &worker_core, .bells = &bells},
      pages(layout_.guest_bytes),
      mapping(s.plan, pages),
      latency(s.ring_size),
      driver(ModelDriverAccess(guest_core, areas_of(memory, layout_.ring)), layout_.ring,
             {layout_.tables,
              s.indirect ? reinterpret_cast<Desc*>(arena_.bytes().data() + layout_.tables.value)
                         : nullptr,
              kTableEntries}),
      frags(context, arena_.bytes().subspan(layout_.guest_bytes, layout_.frag_bytes)),
      sink(sink_, context, frags,
           SkbMemory(arena_.bytes().subspan(layout_.guest_bytes + layout_.frag_bytes)),
           NicRate(period_ps(s.nic_pps), kNicSlots), latency),
      caller(context),
      device(DeviceRing(ModelAccess(context, areas_of(memory, layout_.ring), s.plan),
                        ModelPayload(context, memory), layout_.ring),
             frags, sink, caller, device_config(s), 1),
      worker(worker_core, device, context, mapping, layout_.ring,
             {.busy_poll_ps = static_cast<std::uint64_t>(std::llround(s.busy_poll_us * 1e6)),
              .inline_packets = s.inline_packets}),
      guest(guest_core, driver,
            FramePool{layout_.frames.base, arena_.bytes().data() + layout_.frames.base.value,
                      layout_.frames.count, layout_.frames.stride},
            guest_config(s), Arrivals(period_ps(s.offered_pps), s.arrival == "poisson", s.seed),
            latency, KickHost<Worker>{&worker, &bells, s.inline_packets > 0}),
      invalidator(control_core, mapping, context, period_ps(s.invalidations_per_s),
                  page_span(0, layout_.guest_bytes)) {
  context.user_page_shift = s.guest_page_bytes == kPageBytes ? 12 : 21;
  const std::uint64_t before = control_core.busy_ps();
  mapping.set_up(control_core, layout_.ring);
  setup_ps = control_core.busy_ps() - before;
  context.set_unmapped(s.plan, !mapping.usable());
}

}  // namespace vringlab::sim
