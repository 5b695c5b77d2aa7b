// A guest that receives by AF_XDP: the driver's softirq on one virtual processor, an
// application on another, four rings between them.
#pragma once

#include "core/spec/net.h"
#include "sim/guest/model_dma.h"
#include "sim/guest/napi.h"
#include "sim/guest/process_sleep.h"
#include "sim/guest/xsk_socket.h"

namespace vringlab::sim {

struct XskReceiverConfig {
  std::uint64_t packets = 0;   // to receive in all
  std::uint32_t burst = 64;    // frames between two publications by the application
  std::uint64_t defer_ps = 0;  // see Napi
};

// The softirq: chunks of the fill ring to the virtqueue, frames to the rx ring.
template <class KickHost>
class XskReceiveDriver {
 public:
  XskReceiveDriver(Core& core, DriverRing<ModelDriverAccess>& ring, Iommu& iommu,
                   const XskSocket& socket, ProcessSleep& app, std::uint64_t defer_ps,
                   KickHost kick_host)
      : core_(&core),
        ring_(&ring),
        socket_(&socket),
        app_(&app),
        memory_(core, Step::kGuestReceive),
        napi_(core, ring, kick_host, defer_ps),
        dma_(core, iommu),
        umem_(dma_, socket.umem_config()),
        xsk_(ring, umem_, socket.addresses(), socket.frames(), ring.state().size, memory_) {
    (void)umem_.map();
  }
  XskReceiveDriver(const XskReceiveDriver&) = delete;  // its parts point at one another
  XskReceiveDriver& operator=(const XskReceiveDriver&) = delete;

  // Once the fill ring has chunks.
  void start() {
    do {
      step_ = {};
      xsk_.end_step(step_);
    } while (step_.refilled > 0);
    napi_.sleep();
    ask_for_chunks();
  }

  Core& core() { return *core_; }
  const Core& core() const { return *core_; }
  bool runnable() const { return !napi_.asleep(); }
  std::uint64_t dropped() const { return dropped_; }
  const Napi<KickHost>& napi() const { return napi_; }

  // Takes at most one frame.
  void step() {
    if (napi_.begin_poll()) {
      memory_.store_index(socket_->need_wakeup(), 0);
      step_ = {};
      taken_ = 0;
    }
    if (taken_ < kNapiBudget && xsk_.receive_one(step_)) {
      ++taken_;
      core_->run(operation_index(Op::kXskReceive));
      return;
    }
    end_poll();
  }

  // False: it runs already.
  bool interrupt(std::uint64_t at_ps) { return napi_.interrupt(at_ps); }

 private:
  void end_poll() {
    xsk_.end_step(step_);
    dropped_ += step_.dropped;
    if (step_.kick) napi_.kick();
    if (step_.received > 0) app_->wake(*core_);
    napi_.end_poll(taken_ == kNapiBudget, taken_ > 0);
    if (napi_.asleep()) ask_for_chunks();
  }
  // A ring that lacks buffers can't be filled by a call of the device alone.
  void ask_for_chunks() {
    if (ring_->state().free_count > 0) memory_.store_index(socket_->need_wakeup(), 1);
  }

  Core* core_;
  DriverRing<ModelDriverAccess>* ring_;
  const XskSocket* socket_;
  ProcessSleep* app_;
  ModelXskMemory memory_;
  Napi<KickHost> napi_;
  ModelDma dma_;
  XskUmem<ModelDma> umem_;
  XskRx<DriverRing<ModelDriverAccess>, ModelDma, ModelXskMemory> xsk_;
  XskRxStep step_;           // of the poll at hand
  std::uint32_t taken_ = 0;  // of its budget
  std::uint64_t dropped_ = 0;
};

// The application: looks at each frame and gives its chunk back, sleeps when there is none.
template <class Driver>
class XskReceiveApp {
 public:
  // Every chunk of the umem is the driver's at first.
  XskReceiveApp(Core& core, const XskSocket& socket, const XskReceiverConfig& config,
                ProcessSleep& sleep, Driver& driver, Signals& signals)
      : core_(&core),
        socket_(&socket),
        config_(config),
        sleep_(&sleep),
        driver_(&driver),
        signals_(&signals),
        memory_(core, Step::kGuestApp),
        rx_(socket.frames(), 0, memory_),
        fill_(socket.addresses(), 0, memory_) {
    const XskLayout& layout = socket.layout();
    for (std::uint32_t i = 0; i < layout.chunks; ++i)
      fill_.put(std::uint64_t{i} * layout.chunk_bytes);
    fill_.publish();
  }

  Core& core() { return *core_; }
  const Core& core() const { return *core_; }
  bool runnable() const { return !done() && !sleep_->asleep(); }
  bool done() const { return received_ >= config_.packets; }
  std::uint64_t received() const { return received_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t step_ps() const { return step_ps_; }  // when the last step began

  // Takes at most one frame.
  void step() {
    step_ps_ = core_->now();
    const std::optional<XdpDesc> frame = rx_.take();
    if (!frame) {
      give_back();
      return sleep_->sleep(Op::kBlockingCall);
    }
    core_->load(core_->line_of(socket_->chunk(frame->addr)), Step::kGuestApp);
    core_->run(operation_index(Op::kXskApp));
    ++received_;
    bytes_ += frame->len;
    if (fill_.has_room(1)) fill_.put(frame->addr);  // it has: the ring is as long as the umem
    if (++in_burst_ == config_.burst) give_back();
  }

 private:
  void give_back() {
    in_burst_ = 0;
    rx_.publish();
    fill_.publish();
    wake_driver();
  }
  void wake_driver() {
    if (memory_.load_index(socket_->need_wakeup()) == 0) return;
    core_->run(operation_index(Op::kXskWake));
    if (driver_->interrupt(core_->now() + core_->machine().costs.irq_latency_ps))
      signals_->woke = true;
  }

  Core* core_;
  const XskSocket* socket_;
  XskReceiverConfig config_;
  ProcessSleep* sleep_;
  Driver* driver_;
  Signals* signals_;
  ModelXskMemory memory_;
  XskConsumer<XdpDesc, ModelXskMemory> rx_;
  XskProducer<std::uint64_t, ModelXskMemory> fill_;
  std::uint32_t in_burst_ = 0;  // frames taken, their chunks not yet published
  std::uint64_t received_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t step_ps_ = 0;
};

// Both. As an actor it is the softirq.
template <class KickHost>
class XskReceiver {
 public:
  using Driver = XskReceiveDriver<KickHost>;
  using App = XskReceiveApp<Driver>;

  XskReceiver(Core& core, Core& app_core, DriverRing<ModelDriverAccess>& ring, Iommu& iommu,
              const XskSocket& socket, const XskReceiverConfig& config, KickHost kick_host)
      : socket_(socket),
        sleep_(app_core, signals_),
        driver_(core, ring, iommu, socket_, sleep_, config.defer_ps, kick_host),
        app_(app_core, socket_, config, sleep_, driver_, signals_) {
    driver_.start();
  }
  XskReceiver(const XskReceiver&) = delete;  // its parts point at one another
  XskReceiver& operator=(const XskReceiver&) = delete;

  Core& core() { return driver_.core(); }
  const Core& core() const { return driver_.core(); }
  App& app() { return app_; }
  Signals& signals() { return signals_; }
  bool runnable() const { return driver_.runnable(); }
  bool done() const { return app_.done(); }
  std::uint64_t received() const { return app_.received(); }
  std::uint64_t bytes() const { return app_.bytes(); }
  std::uint64_t dropped() const { return driver_.dropped(); }
  std::uint64_t step_ps() const { return app_.step_ps(); }
  std::uint64_t kicks() const { return driver_.napi().kicks(); }
  std::uint64_t interrupts() const { return driver_.napi().interrupts(); }
  void step() { driver_.step(); }
  void used_written(std::uint64_t, bool) {}  // it does not poll for what is not there
  void called(std::uint64_t at_ps) { driver_.interrupt(at_ps); }

 private:
  XskSocket socket_;
  Signals signals_;
  ProcessSleep sleep_;
  Driver driver_;
  App app_;
};

}  // namespace vringlab::sim
