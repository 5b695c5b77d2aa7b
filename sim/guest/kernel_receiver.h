// A guest whose kernel receives: interrupt, polls of a softirq with its budget, socket
// buffers, a UDP socket that nobody reads; buffers cut from fragments and mapped for the
// device one by one or a fragment at once.
#pragma once

#include "core/driver/net_receive.h"
#include "sim/access/model_access.h"
#include "sim/guest/model_dma.h"
#include "sim/guest/napi.h"
#include "sim/guest/queue_resizer.h"
#include "sim/machine/signals.h"

namespace vringlab::sim {

// A UDP socket that nobody reads: counts packets and lets go of them.
template <class Buffers>
class DeadSocket {
 public:
  static constexpr bool kIsRead = false;

  struct Config {
    std::uint64_t packets = 0;  // to receive in all
  };

  DeadSocket(Core&, Buffers&, const std::byte*, const Config& config) : config_(config) {}

  bool done() const { return packets_ >= config_.packets; }
  std::uint64_t packets() const { return packets_; }
  std::uint64_t bytes() const { return bytes_; }

  // False: the pieces stay the caller's.
  bool packet(Core& from, std::span<const RxPiece> pieces) {
    from.run(operation_index(Op::kNapiPacket));
    ++packets_;
    for (const RxPiece& piece : pieces) bytes_ += piece.len;
    return false;
  }

 private:
  Config config_;
  std::uint64_t packets_ = 0;
  std::uint64_t bytes_ = 0;
};

struct KernelReceiverConfig {
  RxBuffersConfig buffers;
  BounceDma* pool = nullptr;   // that buffers bounce through; null: none
  std::uint64_t defer_ps = 0;  // see Napi
};

// `Socket`: where packets end, DeadSocket or UdpSocket. `Resizer`: QueueResizer or NeverResized.
template <class KickHost, template <class> class Mapping, template <class> class Socket,
          class Resizer = NeverResized>
class KernelReceiver {
 public:
  using Buffers = RxBuffers<Mapping<ModelDma>>;

  // `app_core`: of who reads the socket, if somebody does.
  KernelReceiver(Core& core, Core& app_core, DriverRing<ModelDriverAccess>& ring, Iommu& iommu,
                 std::span<std::byte> guest_bytes, const KernelReceiverConfig& config,
                 const typename Socket<Buffers>::Config& socket, KickHost kick_host,
                 Resizer resizer = {})
      : core_(&core),
        ring_(&ring),
        napi_(core, ring, kick_host, config.defer_ps),
        dma_(core, iommu, config.pool),
        buffers_(dma_, config.buffers),
        socket_(app_core, buffers_, guest_bytes.data(), socket),
        stack_{core, buffers_, guest_bytes.data(), socket_},
        receive_(ring, buffers_, guest_bytes.data() + config.buffers.base.value, stack_),
        resizer_(std::move(resizer)) {
    (void)receive_.refill();
    napi_.sleep();
  }
  KernelReceiver(const KernelReceiver&) = delete;  // its parts point at one another
  KernelReceiver& operator=(const KernelReceiver&) = delete;

  Core& core() { return *core_; }
  const Core& core() const { return *core_; }
  bool runnable() const {
    return !done() && (resizer_.ready() || !(napi_.asleep() || resizer_.waits()));
  }
  bool done() const { return socket_.done(); }
  std::uint64_t received() const { return socket_.packets(); }
  std::uint64_t bytes() const { return socket_.bytes(); }
  // When the last step began of who ends the run.
  std::uint64_t step_ps() const {
    if constexpr (Socket<Buffers>::kIsRead) return socket_.step_ps();
    return step_ps_;
  }
  // Who reads the socket.
  auto& app() requires(Socket<Buffers>::kIsRead) { return socket_; }
  Signals& signals() requires(Socket<Buffers>::kIsRead) { return socket_.signals(); }
  std::uint64_t dropped() const requires(Socket<Buffers>::kIsRead) { return socket_.dropped(); }
  std::uint64_t kicks() const { return napi_.kicks(); }
  std::uint64_t interrupts() const { return napi_.interrupts(); }

  // Takes at most one packet.
  void step() {
    step_ps_ = core_->now();
    if (resizer_.ready() && !napi_.polling()) return resize();
    if (napi_.begin_poll()) poll_ = {};
    if (taken() < kNapiBudget && receive_.receive_one(poll_)) return;
    end_poll();
  }

  void used_written(std::uint64_t, bool) {}  // it does not poll for what is not there

  // The device called; the guest hears of it at `at_ps`.
  void called(std::uint64_t at_ps) { napi_.interrupt(at_ps); }

  // The queue is to be resized, from `at_ps` on, once no poll is under way.
  void resize_due(std::uint64_t at_ps) requires(Resizer::kResizes) {
    if (resizer_.demand(received()) && napi_.asleep()) core_->idle_until(at_ps);
  }
  void device_stopped(std::uint64_t at_ps) requires(Resizer::kResizes) {
    core_->idle_until(at_ps);
    resizer_.stopped();
  }
  const Resizer& resizer() const { return resizer_; }
  const RxBuffersState& buffers() const { return buffers_.state(); }

 private:
  // Reads the headers and gives the packet to the socket.
  struct Stack {
    Core& core;
    Buffers& buffers;
    const std::byte* guest;
    Socket<Buffers>& socket;

    void packet(const VirtioNetHdr&, std::span<const RxPiece> pieces) {
      core.load(core.line_of(guest + pieces[0].addr.value), Step::kGuestReceive);
      if (socket.packet(core, pieces)) return;
      for (const RxPiece& piece : pieces) buffers.release(piece.token);
    }
  };

  std::uint32_t taken() const { return poll_.packets + poll_.dropped; }

  void resize() {
    if constexpr (Resizer::kResizes) {
      if (resizer_.due()) {
        napi_.stop();
        return resizer_.begin();
      }
      resizer_.resize(*ring_, received(), [this](Token token) { receive_.recycle(token); });
      (void)receive_.refill();
      if (ring_->kick_needed()) napi_.kick();
      napi_.start();
    }
  }

  void end_poll() {
    receive_.end_poll(poll_);
    if (poll_.kick) napi_.kick();
    napi_.end_poll(taken() == kNapiBudget, taken() > 0);
  }

  Core* core_;
  DriverRing<ModelDriverAccess>* ring_;
  Napi<KickHost> napi_;
  ModelDma dma_;
  Buffers buffers_;
  Socket<Buffers> socket_;
  Stack stack_;
  NetReceive<DriverRing<ModelDriverAccess>, Buffers, Stack> receive_;
  Resizer resizer_;
  PollResult poll_;  // the poll at hand
  std::uint64_t step_ps_ = 0;
};

}  // namespace vringlab::sim
