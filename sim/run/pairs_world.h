// All objects of a scenario of queue pairs: each pair has a generator in the host, a
// receive queue, a guest that sends back what it gets, a transmit queue and a sink.
// Workers serve the queues of the pairs in turn; there may be fewer workers than pairs.
#pragma once

#include <deque>
#include <memory>

#include "core/device/net_tx.h"
#include "sim/guest/forwarder.h"
#include "sim/host/generator.h"
#include "sim/host/rx_queue.h"
#include "sim/host/sink.h"
#include "sim/host/vhost_thread.h"
#include "sim/machine/group.h"
#include "sim/run/net_machine.h"

namespace vringlab::sim {

// Of one pair.
struct PairLayout {
  QueueLayout rx;
  QueueLayout tx;
  TapRingConfig tap;
  std::uint64_t frag_begin = 0;  // in host memory: page fragments, socket buffers, the TAP's ring
  std::uint64_t frag_bytes = 0;
};

class QueuePair {
 public:
  using Sink = ModelSink<Nowhere>;
  using Tx = NetTx<ModelAccess, ModelPayload, ModelFrags, Sink, ModelCaller>;
  using Rx = NetRx<ModelAccess, ModelPayload, TapRing, ModelCaller>;
  using RxDevice = RxQueue<Rx>;
  using Thread = VhostThread<Tx, RxDevice>;

  QueuePair(NetMachine& net, const Scenario& scenario, const PairLayout& layout, Core& guest,
            Core& generator, Core& worker, Core& control);

  NetQueue rx_queue;
  NetQueue tx_queue;
  LatencyLog rx_latency;
  LatencyLog tx_latency;
  TapRing tap;
  ModelFrags frags;
  Sink sink;
  Rx rx;
  RxDevice rx_device;
  Tx tx;
  VhostTask<RxDevice> rx_task;
  VhostTask<Tx> tx_task;
  Forwarder guest;
  Generator generator;
  Thread* thread = nullptr;  // that serves it
};

class PairsWorld {
 public:
  explicit PairsWorld(const Scenario& scenario);

 private:
  MemorySizes sizes_;
  std::vector<PairLayout> layouts_;

 public:
  NetMachine net;
  std::deque<Core> cores;
  Core& control_core;
  std::vector<Core*> worker_cores;
  std::vector<Core*> guest_cores;
  std::vector<Core*> generator_cores;
  std::vector<std::unique_ptr<QueuePair>> pairs;
  Group<QueuePair::Thread> threads;

 private:
  Core& new_core();
  std::vector<Core*> new_cores(std::uint32_t count);
};

}  // namespace vringlab::sim
