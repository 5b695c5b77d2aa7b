// A block scenario whose jobs are in a guest: its queues, who serves them, and from what
// store. What differs between the forms is the store, and what stands around it.
#pragma once

#include "core/device/blk.h"
#include "sim/guest/virtio_port.h"
#include "sim/host/bio_store.h"
#include "sim/host/blk_thread.h"
#include "sim/host/file_store.h"
#include "sim/host/vmm_store.h"
#include "sim/machine/group.h"
#include "sim/run/blk_machine.h"

namespace vringlab::sim {

// Calls the guest, and has that delivered.
struct BlkCaller {
  ModelCaller caller;
  Signals* signals = nullptr;

  void call() {
    caller.call();
    signals->rang = true;
  }
};

// One queue, from the guest's driver to the store.
template <class Store>
class BlkQueue {
 public:
  using Engine = Blk<ModelAccess, ModelPayload, Store, BlkCaller>;
  using Task = BlkTask<Engine, Store>;
  using Thread = BlkThread<Task>;

  // What a kick does: it tells the thread, or leaves guest mode to serve the queue itself.
  struct Kick {
    BlkQueue* queue = nullptr;
    bool leaves = false;

    void operator()(Core& core) const {
      if (!leaves) return queue->ring_bell(core);
      core.run(operation_index(Op::kGuestKickVmm));
      queue->thread->serve_on(core, queue->task);
    }
  };

  BlkQueue(BlkMachine& m, const Scenario& s, const QueueLayout& layout, std::uint16_t number,
           Core& vcpu, Core& worker, ThreadPool& pool);

  void ring_bell(Core& core) {
    core.run(operation_index(Op::kGuestKickExit));
    signals.rang = queue.bells.kick = true;
    queue.bells.kick_ps = core.now();
  }

  NetQueue queue;
  Signals& signals;
  BlkCaller caller;
  Store store;
  Engine engine;
  Task task;
  VirtioPort<Kick> port;
  Thread* thread = nullptr;  // that serves it
};

template <class Store>
class BlkWorld {
 public:
  using Queue = BlkQueue<Store>;
  using Thread = typename Queue::Thread;
  using Vcpu = BlkVcpu<VirtioPort<typename Queue::Kick>>;

  explicit BlkWorld(const Scenario& scenario);

  BlkMachine machine;
  PoolState pool_state;
  Group<PoolThread> pool_threads;
  std::vector<Core*> pool_cores;
  ThreadPool pool;
  std::vector<std::unique_ptr<Queue>> queues;
  Group<Thread> threads;
  Group<Vcpu> vcpus;
};

extern template class BlkWorld<BioStore>;
extern template class BlkWorld<FileStore>;
extern template class BlkWorld<VmmStore>;

}  // namespace vringlab::sim
