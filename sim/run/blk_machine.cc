#include "sim/run/blk_machine.h"

#include <algorithm>
#include <cmath>

namespace vringlab::sim {
namespace {

std::uint64_t page_up(std::uint64_t bytes) {
  return (bytes + kCachePageBytes - 1) / kCachePageBytes * kCachePageBytes;
}

bool in_user_space(const Scenario& s) { return s.blk.form == "vmm"; }

NetMachine machine_of(const Scenario& s, const MemorySizes& sizes) {
  constexpr CoreId kCores = BlkMachine::kSharedCore + 1;
  if (in_user_space(s)) return {user_space_scenario(s), sizes, kCores, NetMachine::UserSpace{}};
  return {s, sizes, kCores};
}

CacheMode cache_mode(const std::string& name) {
  if (name == "writeback") return CacheMode::kWriteBack;
  return name == "writethrough" ? CacheMode::kWriteThrough : CacheMode::kNone;
}

HostFileConfig file_config(const Scenario& s) {
  const BlkScenario& b = s.blk;
  const std::uint64_t pages =
      b.cache == "none" ? 1 : std::min(b.cache_bytes, page_up(b.disk_bytes)) / kCachePageBytes;
  const auto share = [pages](double of) {
    return static_cast<std::uint64_t>(std::llround(of * static_cast<double>(pages)));
  };
  return {.mode = cache_mode(b.cache),
          .capacity_bytes = b.disk_bytes,
          .cache_pages = pages,
          .read_ahead_pages = b.read_ahead_bytes / kCachePageBytes,
          .dirty_limit_pages = share(b.dirty_share),
          .dirty_background_pages = share(b.background_share)};
}

BlkJobConfig job_config(const Scenario& s, std::uint32_t job) {
  const BlkScenario& b = s.blk;
  const std::uint64_t ios = s.packets / b.jobs + (job < s.packets % b.jobs ? 1 : 0);
  const std::uint64_t blocks = b.disk_bytes / b.block_bytes / b.jobs;
  const double share = b.operation == "write" ? 0 : b.operation == "mixed" ? b.read_share : 1;
  return {.ios = ios,
          .block_bytes = b.block_bytes,
          .first_byte = job * blocks * b.block_bytes,
          .blocks = blocks,
          .random = b.pattern == "random",
          .read_share = share,
          .flush_every = b.flush_every,
          .reread_from = b.operation == "write-read" ? ios / 2 : 0,
          .seed = s.seed + job};
}

BlkMemory memory_at(NetMachine& net, std::uint64_t at, const BlkScenario& b) {
  const std::uint64_t requests = at + page_up(b.block_bytes);
  std::byte* host = net.guest_bytes().data();
  return {{at}, host + at, {requests}, host + requests};
}

BlkWork work_of(const Scenario& s, NetMachine& net, const std::vector<std::uint64_t>& places) {
  BlkWork work;
  std::size_t place = 0;
  for (std::uint32_t i = 0; i < s.blk.jobs; ++i) {
    BlkWorkJob job{.stream = BlkJob(job_config(s, i)), .slots = {}, .idle = {}};
    for (std::uint32_t d = 0; d < s.blk.queue_depth; ++d) {
      job.slots.push_back({.plan = {}, .memory = memory_at(net, places[place++], s.blk)});
      job.idle.push_back(static_cast<std::uint16_t>(s.blk.queue_depth - 1 - d));
    }
    job.vcpu = static_cast<std::uint16_t>(i % s.vcpus);
    if (!job.finished()) ++work.running;
    work.jobs.push_back(std::move(job));
  }
  work.check_data = s.blk.operation == "write-read";
  return work;
}

}  // namespace

Scenario user_space_scenario(Scenario s) {
  s.plan = {.map_desc = true, .map_avail = true, .map_used = true, .guard = Guard::kNone};
  return s;
}

std::uint64_t request_bytes(const BlkScenario& b) {
  return std::min<std::uint64_t>(b.request_bytes, std::uint64_t{b.segment_bytes} * b.max_segments);
}

std::uint32_t requests_of_io(const BlkScenario& b) {
  return static_cast<std::uint32_t>((b.block_bytes + request_bytes(b) - 1) / request_bytes(b));
}

BlkLayout lay_out_blk(const Scenario& s) {
  BlkLayout layout;
  Layout guest(s.ring_offset);
  for (std::uint32_t i = 0; i < s.blk.queues && s.blk.form != "host"; ++i)
    layout.queues.push_back(
        guest.place_ring(s, static_cast<std::uint16_t>(s.blk.max_segments + 2)));
  const std::uint64_t slot_bytes =
      page_up(s.blk.block_bytes) + requests_of_io(s.blk) * BlkMemory::kRequestStride;
  for (std::uint64_t i = 0; i < std::uint64_t{s.blk.jobs} * s.blk.queue_depth; ++i)
    layout.slots.push_back(guest.place(slot_bytes));
  layout.sizes = {guest.end(), 0};
  return layout;
}

BlkMachine::BlkMachine(const Scenario& s, std::size_t threads)
    : layout_(lay_out_blk(s)),
      net(machine_of(s, layout_.sizes)),
      vcpu_cores(new_cores(0, s.vcpus)),
      worker_cores(new_cores(static_cast<CoreId>(s.vcpus), s.workers)),
      background_core(new_core(kSharedCore)),
      control_core(new_core(kSharedCore)),
      disk_kind(find_disk(s.blk.disk)),
      disk(resolve_disk(find_host(s.host), disk_kind, s.costs), {.depth = disk_kind.depth}),
      bytes_memory(s.blk.data ? s.blk.disk_bytes : 0),
      bytes(bytes_memory),
      file(queued_disk(), file_config(s), threads),
      flusher(background_core, signals, file),
      work(work_of(s, net, layout_.slots)) {
  for (const Core* vcpu : vcpu_cores) {
    for (const Core* worker : worker_cores)
      net.machine.coherence.set_distance(vcpu->id(), worker->id(), distance_of(s.distance));
  }
}

Core& BlkMachine::new_core(CoreId id) {
  return cores.emplace_back(net.machine, id, net.operations, net.tlb_pages());
}

std::vector<Core*> BlkMachine::new_cores(CoreId first, std::uint32_t count) {
  std::vector<Core*> made;
  for (std::uint32_t i = 0; i < count; ++i)
    made.push_back(&new_core(static_cast<CoreId>(first + i)));
  return made;
}

}  // namespace vringlab::sim
