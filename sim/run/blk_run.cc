#include "sim/run/blk_run.h"

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <utility>

#include "sim/access/record_bells.h"
#include "sim/machine/scheduler.h"
#include "sim/run/bare_port.h"
#include "sim/run/blk_world.h"
#include "sim/run/collect.h"

namespace vringlab::sim {
namespace {

// The thread that blocked in the file, and its operation.
FileOp* blocked_op(BlkWorld<VmmStore>& world, std::uint32_t thread) {
  return &world.pool_threads[thread].op();
}
template <class Store>
FileOp* blocked_op(BlkWorld<Store>& world, std::uint32_t thread) {
  return world.threads[thread].op_in_file();
}
void resume(BlkWorld<VmmStore>& world, std::uint32_t thread, std::uint64_t at_ps) {
  world.pool_threads[thread].resume(at_ps);
}
template <class Store>
void resume(BlkWorld<Store>& world, std::uint32_t thread, std::uint64_t at_ps) {
  world.threads[thread].resume(at_ps);
}

template <class Store>
void request_done(BlkWorld<Store>& world, const DiskClient& client, std::uint64_t at_ps) {
  BlkQueue<Store>& queue = *world.queues[client.index];
  queue.task.done(client.slot);
  queue.thread->wake(at_ps);
}

// What the disk has done goes to whoever asked for it.
template <class Store>
void deliver_disk(BlkWorld<Store>& world, std::uint64_t at_ps) {
  BlkMachine& m = world.machine;
  while (m.disk.completed()) {
    const DiskClient client = m.disk.take();
    if (client.kind == DiskClient::Kind::kRequest) {
      request_done(world, client, at_ps);
    } else {
      m.file.disk_done(client, client.kind == DiskClient::Kind::kThread
                                   ? blocked_op(world, client.index)
                                   : nullptr);
    }
  }
  while (m.file.any_woken()) resume(world, m.file.take_woken(), at_ps);
}

template <class Store>
void deliver_queues(BlkWorld<Store>& world) {
  for (std::size_t i = 0; i < world.queues.size(); ++i) {
    BlkQueue<Store>& queue = *world.queues[i];
    const Doorbells raised = std::exchange(queue.queue.bells, {});
    record_bells(raised, world.vcpus[i % world.vcpus.size()].core(), *queue.queue.context.core);
    if (raised.kick) {
      queue.task.kick();
      queue.thread->wake(raised.kick_ps);
    }
    if (raised.call) world.vcpus[i % world.vcpus.size()].interrupt(raised.call_ps);
  }
}

template <class Store>
void deliver_pool(BlkWorld<Store>& world) {
  for (const PoolDone& done : world.pool_state.done) {
    BlkQueue<Store>& queue = *world.queues[done.job.queue];
    queue.task.done(done.job.first_slot);
    queue.thread->wake(done.at_ps);
  }
  world.pool_state.done.clear();
}

template <class Store>
bool raised(BlkWorld<Store>& world) {
  BlkMachine& m = world.machine;
  // Both are taken, so that neither is told twice.
  const bool woke = std::exchange(m.signals.woke, false);
  if (m.disk.take_news() || woke || m.signals.rang) return true;
  if constexpr (std::is_same_v<Store, BioStore>) return false;  // no pool and no file
  return !world.pool_state.done.empty() || (m.file.wants_writing() && !m.flusher.runnable());
}

// Everybody sleeps, and there is work: a fault of the simulation.
void check_finished(const BlkWork& work) {
  if (work.running > 0) throw std::logic_error("blk: jobs wait, and nobody works for them");
}

template <class Store>
void run_world(BlkWorld<Store>& world, const Scenario& s, RunControl* control) {
  BlkMachine& m = world.machine;
  Scheduler scheduler(device_first<5>(s.tie_seed), m.disk, world.vcpus, world.threads,
                      world.pool_threads, m.flusher);
  scheduler.run([&] { return m.work.running == 0; }, [&] { return raised(world); },
                [&](std::size_t, std::uint64_t start_ps) {
                  if (m.disk.completed()) deliver_disk(world, start_ps);
                  if (std::exchange(m.signals.rang, false)) deliver_queues(world);
                  if (!world.pool_state.done.empty()) deliver_pool(world);
                  m.flusher.wake(start_ps);
                  check_clock(start_ps);
                  report(control, m.work.ios);
                });
  check_finished(m.work);
  report(control, m.work.ios);
}

std::uint64_t system_ps(const std::vector<Core*>& vcpus) {
  std::uint64_t sum = 0;
  for (const Core* core : vcpus)
    sum += core->busy_ps() - core->ledger().at(Cost::kGuestApp, Step::kGuestApp).ps;
  return sum;
}

void collect_machine(RunResult& r, BlkMachine& m) {
  r.packets = m.work.ios;
  r.bytes = m.work.bytes;
  r.latency = latency_result(m.work.latency);
  set_elapsed(r, m.work.last_done_ps);
  const DiskCounters& disk = m.disk.counters();
  r.blk = {.requests = m.work.requests,
           .failed = m.work.failed,
           .disk_requests = disk.requests,
           .disk_merged = disk.merged,
           .disk_read_bytes = disk.read_bytes,
           .disk_write_bytes = disk.write_bytes,
           .disk_busy_ps = disk.busy_ps,
           .cache_hit_pages = m.file.counters().hit_pages,
           .cache_miss_pages = m.file.counters().miss_pages,
           .guest_system_ps = system_ps(m.vcpu_cores),
           .wrong_bytes = m.work.wrong_bytes,
           .data_hash = m.bytes_memory.empty() ? 0 : hash_bytes(m.bytes_memory)};
  r.cores.push_back(sum_of("guest", m.vcpu_cores));
}

template <class Store>
RunResult collect(BlkWorld<Store>& world, const Scenario& s) {
  RunResult r;
  BlkMachine& m = world.machine;
  collect_machine(r, m);
  for (const auto& queue : world.queues) {
    r.kicks += queue->port.kicks();
    r.calls += queue->engine.counters().calls;
    r.refused += queue->engine.counters().refused;
    if constexpr (std::is_same_v<Store, VmmStore>) r.blk.merged += queue->store.merged();
    if (s.blk.form != "vmm") collect_mapping(r, queue->queue, m.control_core);
  }
  for (std::size_t i = 0; i < world.threads.size(); ++i) r.wakeups += world.threads[i].wakeups();
  for (std::size_t i = 0; i < world.vcpus.size(); ++i) r.interrupts += world.vcpus[i].interrupts();
  r.cores.push_back(sum_of("worker", m.worker_cores));
  if constexpr (std::is_same_v<Store, VmmStore>)
    r.cores.push_back(sum_of("pool", world.pool_cores));
  if (s.blk.cache == "writeback") r.cores.push_back(core_result("flusher", m.background_core));
  if (s.blk.form != "vmm") r.cores.push_back(core_result("control", m.control_core));
  r.guest_memory_hash = hash_bytes(m.net.guest_bytes());
  return r;
}

template <class Store>
RunResult run_form(const Scenario& s, RunControl* control) {
  BlkWorld<Store> world(s);
  run_world(world, s, control);
  return collect(world, s);
}

// Jobs on the host itself: no guest, no queue, nobody between them and the disk.
RunResult run_host(const Scenario& s, RunControl* control) {
  BlkMachine m(s, 1);
  std::deque<BarePort> ports;
  Group<BlkVcpu<BarePort>> processors;
  std::vector<BlkVcpu<BarePort>*> peers;
  for (std::uint32_t i = 0; i < s.vcpus; ++i) {
    BarePort& port = ports.emplace_back(m.queued_disk(), m.bytes, static_cast<std::uint16_t>(i));
    peers.push_back(&processors.add(*m.vcpu_cores[i], port, m.work, m.signals,
                                    BlkVcpuConfig{.request_bytes = request_bytes(s.blk),
                                                  .sync = s.blk.queue_depth == 1,
                                                  .fills = s.blk.data}));
  }
  for (auto* processor : peers) {
    processor->set_peers(peers);
    processor->start();
  }
  for (std::size_t job = 0; job < m.work.jobs.size(); ++job) peers[m.work.jobs[job].vcpu]->own(job);
  Scheduler scheduler(device_first<2>(s.tie_seed), m.disk, processors);
  scheduler.run([&] { return m.work.running == 0; },
                [&] {
                  return m.disk.take_news() || std::exchange(m.signals.woke, false) ||
                         m.disk.completed() ||
                         (m.queued_disk() == nullptr &&
                          std::ranges::any_of(ports, [](auto& p) { return p.has_done(); }));
                },
                [&](std::size_t, std::uint64_t start_ps) {
                  while (m.disk.completed()) {
                    const DiskClient client = m.disk.take();
                    ports[client.index].done(client.slot);
                    peers[client.index]->interrupt(start_ps);
                  }
                  for (std::size_t i = 0; i < ports.size() && m.queued_disk() == nullptr; ++i) {
                    if (ports[i].has_done()) peers[i]->interrupt(peers[i]->core().now());
                  }
                  check_clock(start_ps);
                  report(control, m.work.ios);
                });
  check_finished(m.work);
  report(control, m.work.ios);
  RunResult r;
  collect_machine(r, m);
  for (auto* processor : peers) r.interrupts += processor->interrupts();
  r.cores.push_back(sum_of("worker", m.worker_cores));  // which had nothing to do
  r.guest_memory_hash = hash_bytes(m.net.guest_bytes());
  return r;
}

}  // namespace

RunResult run_blk(const Scenario& s, RunControl* control) {
  if (s.blk.form == "host") return run_host(s, control);
  if (s.blk.form == "vmm") return run_form<VmmStore>(s, control);
  if (s.blk.form == "vhost-2010") return run_form<FileStore>(s, control);
  return run_form<BioStore>(s, control);
}

}  // namespace vringlab::sim
