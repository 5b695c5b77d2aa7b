// All objects of a scenario of TCP streams from a guest to its host, wired together.
#pragma once

#include <deque>

#include "core/device/net_tx.h"
#include "sim/guest/stream_sender.h"
#include "sim/host/rx_queue.h"
#include "sim/host/sink.h"
#include "sim/host/stream_reader.h"
#include "sim/host/vhost_thread.h"
#include "sim/run/net_machine.h"

namespace vringlab::sim {

struct StreamLayout {
  QueueLayout tx;
  QueueLayout rx;
  TapRingConfig tap;
  MemorySizes sizes;
  std::uint64_t frag_bytes = 0;  // of the host's memory, then socket buffers, then the TAP's ring
};
StreamLayout lay_out_stream(const Scenario& scenario);

class StreamWorld {
 public:
  explicit StreamWorld(const Scenario& scenario);

  using Sink = ModelSink<StreamEnd>;
  using Tx = NetTx<ModelAccess, ModelPayload, ModelFrags, Sink, ModelCaller>;
  using Rx = NetRx<ModelAccess, ModelPayload, TapRing, ModelCaller>;
  using RxDevice = RxQueue<Rx>;
  using Thread = VhostThread<Tx, RxDevice>;

  // Cores in this order: worker, control, virtual processors, readers.
  static constexpr CoreId kWorkerCore = 0;
  static constexpr CoreId kControlCore = 1;

  std::uint64_t latest_ps() const {
    std::uint64_t latest = worker_core.now();
    for (const Core* core : guest_cores) latest = std::max(latest, core->now());
    return latest;
  }
  // The first processor takes the interrupts, so the guest's scheduler fills it last.
  StreamCpu& cpu_of(std::size_t session) { return guest[(session + 1) % guest.size()]; }

 private:
  StreamLayout layout_;
  Core& new_core();

 public:
  NetMachine net;
  std::deque<Core> cores;
  Core& worker_core;
  Core& control_core;
  std::vector<Core*> guest_cores;
  std::vector<Core*> reader_cores;
  NetQueue tx_queue;
  NetQueue rx_queue;
  LatencyLog tx_latency;
  LatencyLog rx_latency;
  TapRing tap;
  Arrival acked;  // acknowledgements and answers in the TAP's ring
  Group<StreamReader> readers;
  ModelFrags frags;
  Sink sink;
  Tx tx;
  Rx rx;
  RxDevice rx_device;
  VhostTask<Tx> tx_task;
  VhostTask<RxDevice> rx_task;
  CoreShare worker_share;
  Thread thread;
  StreamStack stack;
  Group<StreamCpu> guest;
};

}  // namespace vringlab::sim
