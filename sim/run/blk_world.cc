#include "sim/run/blk_world.h"

namespace vringlab::sim {
namespace {

// More than the jobs ask for at once need no room.
std::uint32_t most_in_flight(const Scenario& s) {
  const std::uint64_t asked = std::uint64_t{s.blk.jobs} * s.blk.queue_depth * requests_of_io(s.blk);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(s.ring_size, asked));
}

BlkConfig device_config(const Scenario& s) {
  const bool one = s.blk.form == "vhost-2010";
  return {.disk = {.capacity_sectors = s.blk.disk_bytes / kSectorBytes,
                   .sector_shift = s.blk.sector_shift},
          .used_batch = one ? 1 : s.batch,
          .max_in_flight = one ? 1 : most_in_flight(s),
          .weight = s.weight_packets};
}

VirtioPortConfig port_config(const Scenario& s) {
  return {.segment_bytes = s.blk.segment_bytes,
          .max_segments = s.blk.max_segments,
          .apic_exits = find_host(s.host).apic_exits,
          .acknowledges = s.blk.form == "vmm" && s.blk.interrupt == "ioctl"};
}

VmmStoreConfig vmm_config(const Scenario& s) {
  const IoEngine engine = s.blk.engine == "threads" ? IoEngine::kThreads
                          : s.blk.engine == "aio"   ? IoEngine::kAio
                                                    : IoEngine::kUring;
  return {.engine = engine, .merge_writes = s.blk.merge_writes};
}

Op call_op(const Scenario& s) {
  if (s.blk.form != "vmm") return Op::kCall;
  return s.blk.interrupt == "ioctl" ? Op::kCallIoctl : Op::kCallIrqfd;
}

BlkVcpuConfig vcpu_config(const Scenario& s) {
  return {
      .request_bytes = request_bytes(s.blk), .sync = s.blk.queue_depth == 1, .fills = s.blk.data};
}

bool uses_pool(const Scenario& s) { return s.blk.form == "vmm" && s.blk.engine == "threads"; }

std::size_t file_threads(const Scenario& s) {
  return uses_pool(s) ? s.blk.pool_threads : s.workers;
}

template <class Store>
Store make_store(BlkMachine& m, const Scenario& s, NetQueue& queue, std::uint16_t number,
                 ThreadPool& pool) {
  if constexpr (std::is_same_v<Store, BioStore>) {
    return {queue.context, m.queued_disk(), m.bytes, number, s.ring_size};
  } else if constexpr (std::is_same_v<Store, FileStore>) {
    return {queue.context, m.file, m.bytes, static_cast<std::uint16_t>(number % s.workers)};
  } else {
    return {queue.context, m.queued_disk(), pool, m.bytes, number, s.ring_size, vmm_config(s)};
  }
}

Scenario ring_scenario(const Scenario& s) {
  return s.blk.form == "vmm" ? user_space_scenario(s) : s;
}

}  // namespace

template <class Store>
BlkQueue<Store>::BlkQueue(BlkMachine& m, const Scenario& s, const QueueLayout& layout,
                          std::uint16_t number, Core& vcpu, Core& worker, ThreadPool& pool)
    : queue(m.net, ring_scenario(s), layout, vcpu, worker, m.control_core),
      signals(m.signals),
      caller{ModelCaller(queue.context, call_op(s)), &m.signals},
      store(make_store<Store>(m, s, queue, number, pool)),
      engine(queue.device_ring(), store, caller, device_config(s), 1),
      task(engine, store, queue.context, s.ring_size),
      port(queue.driver, port_config(s), Kick{this, s.blk.form == "vmm" && s.blk.kick == "exit"}) {}

template <class Store>
BlkWorld<Store>::BlkWorld(const Scenario& s)
    : machine(s, file_threads(s)), pool(pool_threads, pool_state) {
  const std::uint32_t pooled = uses_pool(s) ? s.blk.pool_threads : 1;
  for (std::uint32_t i = 0; i < pooled; ++i) {
    pool_cores.push_back(&machine.new_core(BlkMachine::kSharedCore));
    pool_threads.add(*pool_cores.back(), machine.signals, machine.file, pool_state,
                     static_cast<std::uint16_t>(i));
  }
  for (Core* core : machine.worker_cores) threads.add(*core, machine.signals, s.blk.form == "vmm");
  for (std::uint32_t i = 0; i < s.blk.queues; ++i) {
    queues.push_back(std::make_unique<Queue>(
        machine, s, machine.layout().queues[i], static_cast<std::uint16_t>(i),
        *machine.vcpu_cores[i % s.vcpus], *machine.worker_cores[i % s.workers], pool));
    queues.back()->thread = &threads[i % s.workers];
    threads[i % s.workers].serve(queues.back()->task);
  }
  std::vector<Vcpu*> peers;
  for (std::uint32_t i = 0; i < s.vcpus; ++i)
    peers.push_back(&vcpus.add(*machine.vcpu_cores[i], queues[i % s.blk.queues]->port, machine.work,
                               machine.signals, vcpu_config(s)));
  for (Vcpu* vcpu : peers) {
    vcpu->set_peers(peers);
    vcpu->start();
  }
  for (std::size_t job = 0; job < machine.work.jobs.size(); ++job)
    peers[machine.work.jobs[job].vcpu]->own(job);
}

template class BlkWorld<BioStore>;
template class BlkWorld<FileStore>;
template class BlkWorld<VmmStore>;

}  // namespace vringlab::sim
