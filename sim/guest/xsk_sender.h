// A guest that transmits by AF_XDP: an application on one virtual processor, the driver's
// softirq on another, four rings between them.
#pragma once

#include <vector>

#include "core/spec/net.h"
#include "sim/guest/model_dma.h"
#include "sim/guest/napi.h"
#include "sim/guest/process_sleep.h"
#include "sim/guest/xsk_socket.h"
#include "sim/machine/arrivals.h"
#include "sim/machine/latency.h"

namespace vringlab::sim {

struct XskSenderConfig {
  std::uint64_t packets = 0;       // to send in all
  std::uint32_t frame_bytes = 64;  // without the virtio-net header
  std::uint32_t burst = 64;        // frames between two publications by the application
};

// The softirq: from the tx ring to the virtqueue, and back to the completion ring.
template <class KickHost>
class XskSendDriver {
 public:
  XskSendDriver(Core& core, DriverRing<ModelDriverAccess>& ring, Iommu& iommu,
                const XskSocket& socket, LatencyLog& latency, ProcessSleep& app, KickHost kick_host)
      : core_(&core),
        socket_(&socket),
        latency_(&latency),
        app_(&app),
        memory_(core, Step::kGuestFill),
        napi_(core, ring, kick_host),
        dma_(core, iommu),
        umem_(dma_, socket.umem_config()),
        xsk_(ring, umem_, socket.frames(), socket.addresses(),
             {.shared_header = socket.layout().header}, memory_) {
    (void)umem_.map();
    (void)xsk_.start();
    memory_.store_index(socket.need_wakeup(), 1);
    napi_.sleep();
  }
  XskSendDriver(const XskSendDriver&) = delete;  // its parts point at one another
  XskSendDriver& operator=(const XskSendDriver&) = delete;

  Core& core() { return *core_; }
  const Core& core() const { return *core_; }
  bool runnable() const { return !napi_.asleep(); }
  std::uint64_t sent() const { return sent_; }
  const Napi<KickHost>& napi() const { return napi_; }

  // Takes at most one frame.
  void step() {
    if (napi_.begin_poll()) {
      memory_.store_index(socket_->need_wakeup(), 0);
      step_ = {};
      taken_ = 0;
      completing_ = true;
    }
    if (completing_ && xsk_.complete_one(step_)) return;
    completing_ = false;
    if (taken_ < kNapiBudget && xsk_.send_one(step_)) {
      ++taken_;
      core_->run(operation_index(Op::kXskSend));
      latency_->start(core_->now());
      return;
    }
    end_poll();
  }

  // False: it runs already.
  bool interrupt(std::uint64_t at_ps) { return napi_.interrupt(at_ps); }

 private:
  void end_poll() {
    xsk_.end_step(step_);
    sent_ += step_.sent;
    if (step_.kick) napi_.kick();
    // Its tx ring may be full because its completion ring is: an application that sleeps for the
    // one has to be woken for the other, by a timeout of its own if nothing else.
    if (app_->asleep() && (writable() || xsk_.lacks_completion_room())) app_->wake(*core_);
    const bool again = taken_ == kNapiBudget;
    if (!again) memory_.store_index(socket_->need_wakeup(), 1);
    napi_.end_poll(again, false);
  }
  // A socket can be written to while its tx ring is at most half full.
  bool writable() const {
    const XskRingAreas<XdpDesc> tx = socket_->frames();
    return memory_.load_index(tx.producer) - memory_.load_index(tx.consumer) <= tx.size / 2;
  }

  Core* core_;
  const XskSocket* socket_;
  LatencyLog* latency_;
  ProcessSleep* app_;
  ModelXskMemory memory_;
  Napi<KickHost> napi_;
  ModelDma dma_;
  XskUmem<ModelDma> umem_;
  XskTx<DriverRing<ModelDriverAccess>, ModelDma, ModelXskMemory> xsk_;
  XskTxStep step_;           // of the poll at hand
  std::uint32_t taken_ = 0;  // of its budget
  bool completing_ = false;  // it has not yet seen all that the device is done with
  std::uint64_t sent_ = 0;   // frames that the device can see
};

// The application: takes back what was sent, makes a burst, tells its kernel if that sleeps.
template <class Driver>
class XskSendApp {
 public:
  XskSendApp(Core& core, const XskSocket& socket, const XskSenderConfig& config,
             const Arrivals& arrivals, ProcessSleep& sleep, Driver& driver, Signals& signals)
      : core_(&core),
        socket_(&socket),
        config_(config),
        arrivals_(arrivals),
        sleep_(&sleep),
        driver_(&driver),
        signals_(&signals),
        memory_(core, Step::kGuestApp),
        tx_(socket.frames(), 0, memory_),
        completion_(socket.addresses(), 0, memory_) {
    const XskLayout& layout = socket.layout();
    for (std::uint32_t i = layout.chunks; i > 0; --i)
      free_.push_back(std::uint64_t{i - 1} * layout.chunk_bytes);
    arrivals_.wait_for(core);
  }

  Core& core() { return *core_; }
  const Core& core() const { return *core_; }
  bool runnable() const { return !sleep_->asleep(); }

  // Takes back or makes at most one frame.
  void step() {
    if (collecting_) {
      if (collect()) return;
      collecting_ = false;
    }
    if (free_.empty()) return end_burst();  // some have completed since it looked
    if (made_ == config_.packets || !tx_.has_room(1)) return wait_for_room();
    make_frame();
    if (++in_burst_ == config_.burst || made_ == config_.packets) {
      end_burst();
      arrivals_.wait_for(*core_);
    }
  }

 private:
  bool collect() {
    if (const std::optional<std::uint64_t> addr = completion_.take()) {
      free_.push_back(*addr);
      return true;
    }
    completion_.publish();
    return false;
  }
  void make_frame() {
    constexpr std::uint32_t kHeaders = 42;  // Ethernet, IPv4, UDP
    const std::uint64_t addr = free_.back();
    free_.pop_back();
    std::byte* frame = socket_->chunk(addr);
    core_->run(operation_index(Op::kXskApp));
    const std::uint32_t written = std::min(kHeaders, config_.frame_bytes);
    core_->store_lines(core_->line_of(frame), core_->line_of(frame + written - 1), Step::kGuestApp);
    std::memcpy(frame, &made_, sizeof(made_));
    tx_.put({addr, config_.frame_bytes, 0});
    ++made_;
  }
  // The driver may have waited for room on the completion ring.
  void wait_for_room() {
    end_burst();
    wake_driver();
    sleep_->sleep(Op::kBlockingCall);
  }
  void end_burst() {
    collecting_ = true;
    if (in_burst_ == 0) return;
    in_burst_ = 0;
    tx_.publish();
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
  XskSenderConfig config_;
  Arrivals arrivals_;
  ProcessSleep* sleep_;
  Driver* driver_;
  Signals* signals_;
  ModelXskMemory memory_;
  XskProducer<XdpDesc, ModelXskMemory> tx_;
  XskConsumer<std::uint64_t, ModelXskMemory> completion_;
  std::vector<std::uint64_t> free_;  // chunks that are the application's
  std::uint64_t made_ = 0;
  std::uint32_t in_burst_ = 0;  // frames made, not yet published
  bool collecting_ = true;      // what completed is taken back first
};

// Both. As an actor it is the softirq.
template <class KickHost>
class XskSender {
 public:
  using Driver = XskSendDriver<KickHost>;
  using App = XskSendApp<Driver>;

  XskSender(Core& core, Core& app_core, DriverRing<ModelDriverAccess>& ring, Iommu& iommu,
            const XskSocket& socket, const XskSenderConfig& config, const Arrivals& arrivals,
            LatencyLog& latency, KickHost kick_host)
      : packets_(config.packets),
        socket_(socket),
        sleep_(app_core, signals_),
        driver_(core, ring, iommu, socket_, latency, sleep_, kick_host),
        app_(app_core, socket_, config, arrivals, sleep_, driver_, signals_) {}
  XskSender(const XskSender&) = delete;  // its parts point at one another
  XskSender& operator=(const XskSender&) = delete;

  Core& core() { return driver_.core(); }
  const Core& core() const { return driver_.core(); }
  App& app() { return app_; }
  Signals& signals() { return signals_; }
  bool runnable() const { return driver_.runnable(); }
  bool done() const { return driver_.sent() == packets_; }
  std::uint64_t kicks() const { return driver_.napi().kicks(); }
  std::uint64_t interrupts() const { return driver_.napi().interrupts(); }
  void step() { driver_.step(); }
  void used_written(std::uint64_t, bool) {}  // it does not poll for what is not there
  void called(std::uint64_t at_ps) { driver_.interrupt(at_ps); }

 private:
  std::uint64_t packets_;
  XskSocket socket_;
  Signals signals_;
  ProcessSleep sleep_;
  Driver driver_;
  App app_;
};

}  // namespace vringlab::sim
