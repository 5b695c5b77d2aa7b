// A queue pair of TCP streams: the guest's stack and driver, both queues, and the socket that
// the streams' other ends are behind.
#pragma once

#include "core/device/net_tx.h"
#include "sim/guest/stream_sender.h"
#include "sim/host/rx_queue.h"
#include "sim/host/sink.h"
#include "sim/host/stream_reader.h"
#include "sim/host/vhost_thread.h"
#include "sim/run/net_machine.h"

namespace vringlab::sim {

// Where it lies: the guest's queues and buffers; page fragments, socket buffers and the TAP's
// ring of the host.
struct StreamLayout {
  QueueLayout tx;
  QueueLayout rx;
  TapRingConfig tap;
  std::uint64_t begin = 0;  // in host memory: page fragments, socket buffers, the TAP's ring
  std::uint64_t frag_bytes = 0;
  std::uint64_t skb_bytes = 0;
};

// The scenario as a guest kernel negotiates it.
Scenario with_kernel_guest(Scenario scenario);

// The host's memory grows by what the pair needs.
StreamLayout place_stream(const Scenario& scenario, Layout& guest, std::uint64_t& host_bytes);

class StreamPair {
 public:
  using Sink = ModelSink<StreamEnd>;
  using Tx = NetTx<ModelAccess, ModelPayload, ModelFrags, Sink, ModelCaller>;
  using Rx = NetRx<ModelAccess, ModelPayload, TapRing, ModelCaller>;
  using RxDevice = RxQueue<Rx>;
  using Thread = VhostThread<Tx, RxDevice>;

  // `scenario`: of a kernel guest. `readers`: of all sessions, though this pair has only some.
  // `cpu` takes the interrupts.
  StreamPair(NetMachine& net, const Scenario& scenario, const StreamLayout& layout, StreamCpu& cpu,
             Core& control, Group<StreamReader>& readers, Thread& thread);

  bool raised() const {
    return tx_queue.bells.call || rx_queue.bells.call || stack.kicked() || stack.has_woken() ||
           acked.raised;
  }

  NetQueue tx_queue;
  NetQueue rx_queue;
  LatencyLog tx_latency;
  LatencyLog rx_latency;
  TapRing tap;
  Arrival acked;  // acknowledgements and answers in the TAP's ring
  ModelFrags frags;
  Sink sink;
  Tx tx;
  Rx rx;
  RxDevice rx_device;
  ServedBy<Thread, Tx> tx_served;
  ServedBy<Thread, RxDevice> rx_served;
  StreamStack stack;
  StreamCpu* cpu;
  std::size_t line;  // of its interrupts, at that processor
};

}  // namespace vringlab::sim
