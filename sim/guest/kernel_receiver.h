// A guest whose kernel receives: interrupt, polls of a softirq with its budget, socket
// buffers, a UDP socket that nobody reads; buffers cut from fragments and mapped for the
// device one by one or a fragment at once.
#pragma once

#include "core/driver/net_receive.h"
#include "sim/access/model_access.h"
#include "sim/guest/model_dma.h"

namespace vringlab::sim {

struct KernelReceiverConfig {
  std::uint64_t packets = 0;  // to receive in all
  RxBuffersConfig buffers;
  BounceDma* pool = nullptr;  // that buffers bounce through; null: none
  bool exits = true;          // a kick leaves a virtual machine; else it is a system call
};

template <class KickHost, template <class> class Mapping>
class KernelReceiver {
 public:
  KernelReceiver(Core& core, DriverRing<ModelDriverAccess>& ring, Iommu& iommu,
                 std::span<std::byte> guest_bytes, const KernelReceiverConfig& config,
                 KickHost kick_host)
      : core_(&core),
        ring_(&ring),
        config_(config),
        kick_host_(kick_host),
        dma_(core, iommu, config.pool),
        buffers_(dma_, config.buffers),
        stack_{core, buffers_, guest_bytes.data()},
        receive_(ring, buffers_, guest_bytes.data() + config.buffers.base.value, stack_) {
    (void)receive_.refill();
    asleep_ = !ring.enable_callback();
  }
  KernelReceiver(const KernelReceiver&) = delete;  // its parts point at one another
  KernelReceiver& operator=(const KernelReceiver&) = delete;

  Core& core() { return *core_; }
  const Core& core() const { return *core_; }
  bool runnable() const { return !done() && !asleep_; }
  bool done() const { return stack_.packets >= config_.packets; }
  std::uint64_t received() const { return stack_.packets; }
  std::uint64_t bytes() const { return stack_.bytes; }
  std::uint64_t step_ps() const { return step_ps_; }  // when the last step began
  std::uint64_t kicks() const { return kicks_; }
  std::uint64_t interrupts() const { return interrupts_; }

  // Takes at most one packet.
  void step() {
    step_ps_ = core_->now();
    if (!polling_) {
      polling_ = true;
      poll_ = {};
      core_->run(operation_index(Op::kNapiPoll));
    }
    if (taken() < kNapiBudget && receive_.receive_one(poll_)) return;
    end_poll();
  }

  void used_written(std::uint64_t, bool) {}  // it does not poll for what is not there

  // The device called; the guest hears of it at `at_ps`.
  void called(std::uint64_t at_ps) {
    if (!asleep_) return;
    asleep_ = false;
    core_->idle_until(at_ps);
    core_->run(operation_index(Op::kGuestInterrupt));
    ++interrupts_;
    ring_->disable_callback();
  }

 private:
  using Buffers = RxBuffers<Mapping<ModelDma>>;

  // Counts packets and lets go of them.
  struct Stack {
    Core& core;
    Buffers& buffers;
    const std::byte* guest;
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;

    void packet(const VirtioNetHdr&, std::span<const RxPiece> pieces) {
      core.load(core.line_of(guest + pieces[0].addr.value), Step::kGuestReceive);
      core.run(operation_index(Op::kNapiPacket));
      ++packets;
      for (const RxPiece& piece : pieces) {
        bytes += piece.len;
        buffers.release(piece.token);
      }
    }
  };

  std::uint32_t taken() const { return poll_.packets + poll_.dropped; }

  // A poll that used up its budget is followed by another; one that did not ends with
  // interrupts on, unless a packet came meanwhile.
  void end_poll() {
    receive_.end_poll(poll_);
    if (poll_.refilled > 0) core_->run(operation_index(Op::kGuestKickDecision));
    if (poll_.kick) kick();
    polling_ = false;
    if (taken() < kNapiBudget) asleep_ = !ring_->enable_callback();
  }
  void kick() {
    core_->run(operation_index(config_.exits ? Op::kGuestKickExit : Op::kGuestKickSyscall));
    ++kicks_;
    kick_host_(*core_);
  }

  Core* core_;
  DriverRing<ModelDriverAccess>* ring_;
  KernelReceiverConfig config_;
  KickHost kick_host_;
  ModelDma dma_;
  Buffers buffers_;
  Stack stack_;
  NetReceive<DriverRing<ModelDriverAccess>, Buffers, Stack> receive_;
  PollResult poll_;  // the poll at hand
  std::uint64_t step_ps_ = 0;
  std::uint64_t kicks_ = 0;
  std::uint64_t interrupts_ = 0;
  bool polling_ = false;
  bool asleep_ = false;  // waits for a call
};

}  // namespace vringlab::sim
