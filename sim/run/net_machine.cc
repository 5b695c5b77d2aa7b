#include "sim/run/net_machine.h"

#include <cmath>
#include <cstring>
#include <new>
#include <stdexcept>

namespace vringlab::sim {
namespace {

constexpr std::uint64_t kPicosecondsPerSecond = 1000000000000;
constexpr std::uint16_t kTableEntries = 2;  // header and frame

std::uint64_t page_up(std::uint64_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

RingAreas areas_of(const GuestMemory& memory, const QueueConfig& ring) {
  const auto areas = map_ring_areas(memory, ring);
  if (!areas.ok()) throw std::logic_error("ring does not fit its own layout");
  return areas.value();
}

std::uint32_t ring_pages(const QueueConfig& ring) {
  return static_cast<std::uint32_t>(page_span(ring.desc.value, desc_bytes(ring.size)) +
                                    page_span(ring.avail.value, avail_bytes(ring.size, true)) +
                                    page_span(ring.used.value, used_bytes(ring.size, true)));
}

// A process copies without any of what a kernel does around it.
KernelPreset in_user_space(KernelPreset kernel) {
  kernel.smap = kernel.nospec = kernel.copy_nospec = kernel.hardened_usercopy = false;
  return kernel;
}
CostModel in_user_space(CostModel costs) {
  for (const Cost cost :
       {Cost::kStacClac, Cost::kAccessOk, Cost::kIovIter, Cost::kHardenedUsercopy})
    costs.ps[index(cost)] = 0;
  return costs;
}

}  // namespace

Distance distance_of(const std::string& name) {
  if (name == "same_ccx") return Distance::kSameCcx;
  return name == "remote" ? Distance::kRemoteSocket : Distance::kSameSocket;
}

std::uint64_t period_ps(double per_second) {
  if (per_second <= 0) return 0;
  return static_cast<std::uint64_t>(
      std::llround(static_cast<double>(kPicosecondsPerSecond) / per_second));
}

std::uint64_t Layout::place(std::uint64_t bytes) {
  const std::uint64_t at = at_;
  at_ = page_up(at_ + bytes);
  return at;
}

QueueLayout Layout::place_queue(const Scenario& s, std::uint32_t buffers,
                                std::uint32_t frame_bytes) {
  QueueLayout queue = place_ring(s, kTableEntries);
  queue.frames.count = buffers;
  queue.frames.stride = frame_stride(frame_bytes);
  queue.frames.base = {place(queue.frames.bytes())};
  return queue;
}

QueueLayout Layout::place_ring(const Scenario& s, std::uint16_t table_entries) {
  QueueLayout queue;
  queue.table_entries = table_entries;
  queue.ring.size = s.ring_size;
  queue.ring.features = feature(kFeatureVersion1) |
                        (s.event_idx ? feature(kFeatureRingEventIdx) : 0) |
                        (s.indirect ? feature(kFeatureRingIndirectDesc) : 0);
  queue.ring.desc = {place(desc_bytes(s.ring_size))};
  queue.ring.avail = {place(avail_bytes(s.ring_size, true))};
  queue.ring.used = {place(used_bytes(s.ring_size, true))};
  if (s.resizes_per_s > 0) queue.ring.features |= feature(kFeatureRingReset);
  queue.tables = {place(s.indirect ? s.ring_size * table_entries * sizeof(Desc) : 0)};
  return queue;
}

Arena::Arena(std::size_t bytes)
    : size_(page_up(bytes)),
      memory_(static_cast<std::byte*>(std::aligned_alloc(kPageBytes, size_))) {
  if (!memory_) throw std::bad_alloc();
  std::memset(memory_.get(), 0, size_);
}

NetMachine::NetMachine(const Scenario& s, const MemorySizes& sizes, CoreId cores)
    : NetMachine(s, sizes, cores, find_kernel(s.kernel),
                 resolve_costs(find_host(s.host), find_kernel(s.kernel), s.costs)) {}

NetMachine::NetMachine(const Scenario& s, const MemorySizes& sizes, CoreId cores, UserSpace)
    : NetMachine(s, sizes, cores, in_user_space(find_kernel(s.kernel)),
                 in_user_space(resolve_costs(find_host(s.host), find_kernel(s.kernel), s.costs))) {}

NetMachine::NetMachine(const Scenario& s, const MemorySizes& sizes, CoreId cores,
                       const KernelPreset& kernel, const CostModel& costs)
    : sizes_(sizes),
      kernel_(kernel),
      host_(find_host(s.host)),
      arena_(sizes.guest_bytes + sizes.host_bytes),
      sink(find_sink(s.sink)),
      machine(costs,
              Coherence(static_cast<std::uint32_t>(arena_.bytes().size() / kCacheLineBytes), cores,
                        host_),
              arena_.bytes().data()),
      operations(build_operations(s.plan, kernel_, machine.costs, sink.costs)),
      memory({{GuestAddr{0}, guest_bytes()}}),
      pages(sizes.guest_bytes),
      io(s.iotlb_entries) {}

NetQueue::NetQueue(NetMachine& net, const Scenario& s, const QueueLayout& layout, Core& guest,
                   Core& worker, Core& control)
    : net_(net),
      layout_(layout),
      plan_(s.plan),
      areas_(areas_of(net.memory, layout.ring)),
      context{.core = &worker, .bells = &bells},
      mapping(s.plan, net.pages),
      driver(ModelDriverAccess(guest, areas_), layout.ring,
             {layout.tables,
              s.indirect ? reinterpret_cast<Desc*>(net.guest_bytes().data() + layout.tables.value)
                         : nullptr,
              layout.table_entries}),
      caller(context) {
  context.user_page_shift = s.guest_page_bytes == kPageBytes ? 12 : 21;
  const std::uint64_t before = control.busy_ps();
  mapping.set_up(control, layout.ring);
  setup_ps = control.busy_ps() - before;
  context.set_unmapped(s.plan, !mapping.usable());
}

DeviceRing<ModelAccess, ModelPayload> NetQueue::device_ring() {
  return {ModelAccess(context, areas_, plan_), ModelPayload(context, net_.memory), layout_.ring};
}

void NetQueue::put_behind(IoDomain& domain) {
  context.iommu = {.domain = &domain, .ring_pages = ring_pages(layout_.ring)};
}

RingPlace<ModelDriverAccess> NetQueue::place(const QueueConfig& ring, Core& guest) const {
  return {ring, ModelDriverAccess(guest, areas_of(net_.memory, ring)), {}};
}

void NetQueue::move_to(const QueueConfig& ring, Core& core) {
  layout_.ring = ring;
  areas_ = areas_of(net_.memory, ring);
  context.iommu.ring_pages = ring_pages(ring);
  context.iommu.flushes_seen = DeviceIommu{}.flushes_seen;  // its pages are new to the IOTLB
  mapping.set_up(core, ring);
  context.set_unmapped(plan_, !mapping.usable());
}

FramePool NetQueue::frames() const {
  FramePool pool = layout_.frames;
  pool.host = net_.guest_bytes().data() + pool.base.value;
  return pool;
}

}  // namespace vringlab::sim
