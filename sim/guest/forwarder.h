// A guest that sends back what it receives: testpmd in io or macswap mode over the
// virtio poll-mode driver. It takes one frame a step; the buffer that a frame came in
// is the one that it leaves in.
#pragma once

#include <cstring>
#include <vector>

#include "core/driver/driver_ring.h"
#include "core/spec/net.h"
#include "sim/access/model_access.h"
#include "sim/guest/frame_pool.h"

namespace vringlab::sim {

struct ForwarderConfig {
  std::uint32_t buffer_bytes = 2048;  // of one buffer, the virtio-net header apart
  std::uint32_t burst = 32;           // frames between two publications
  bool mac_swap = false;              // exchange the addresses, which touches each frame
  bool exits = false;                 // a kick leaves a virtual machine; else it is a system call
};

class Forwarder {
 public:
  // Offers a receive buffer for each entry of the ring; the pool has more.
  Forwarder(Core& core, DriverRing<ModelDriverAccess>& rx, DriverRing<ModelDriverAccess>& tx,
            const FramePool& pool, const ForwarderConfig& config)
      : core_(&core), rx_(&rx), tx_(&tx), pool_(pool), config_(config) {
    rx.disable_callback();
    tx.disable_callback();
    for (std::uint32_t i = pool.count; i > 0; --i) free_.push_back(i - 1);
    refill();
    rx.publish();
  }

  Core& core() { return *core_; }
  const Core& core() const { return *core_; }
  bool runnable() const { return true; }
  std::uint64_t received() const { return received_; }
  std::uint64_t kicks() const { return kicks_; }
  std::uint64_t dropped() const { return dropped_; }

  // Takes at most one frame, or ends a burst.
  void step() {
    if (in_burst_ < config_.burst) {
      const auto completion = rx_->reap();
      if (completion) {
        forward(*completion);
        return;
      }
    }
    if (in_burst_ == 0) core_->run(operation_index(Op::kGuestPoll));
    end_burst();
  }

  // Queues that were kicked since the last call.
  struct Kicks {
    bool rx = false;
    bool tx = false;
  };
  bool kicked() const { return pending_.rx || pending_.tx; }
  Kicks take_kicks() { return std::exchange(pending_, {}); }

 private:
  static constexpr std::uint32_t kHeader = sizeof(VirtioNetHdr);

  std::byte* frame(std::uint64_t buffer) const {
    return pool_.host + buffer * pool_.stride + FramePool::kFrameOffset;
  }
  GuestAddr header_addr(std::uint64_t buffer) const {
    return {pool_.base.value + buffer * pool_.stride + FramePool::kFrameOffset - kHeader};
  }

  void forward(const Completion& completion) {
    ++received_;
    ++in_burst_;
    core_->run(operation_index(Op::kGuestReceive));
    std::byte* at = frame(completion.token);
    core_->load(core_->line_of(at - kHeader), Step::kGuestReceive);
    if (config_.mac_swap) swap_addresses(at);
    reap_tx();
    core_->store(core_->line_of(at - kHeader), Step::kGuestFill);
    std::memset(at - kHeader, 0, kHeader);
    const Buffer whole[] = {{header_addr(completion.token), completion.written_bytes}};
    if (tx_->add(whole, {}, completion.token).ok()) return;
    ++dropped_;  // the ring is full: testpmd frees what it can't send
    free_.push_back(static_cast<std::uint32_t>(completion.token));
  }

  void swap_addresses(std::byte* at) {
    constexpr std::size_t kMac = 6;
    core_->run(operation_index(Op::kGuestMacSwap));
    core_->load(core_->line_of(at), Step::kGuestReceive);
    core_->store(core_->line_of(at), Step::kGuestReceive);
    std::byte first[kMac];
    std::memcpy(first, at, kMac);
    std::memcpy(at, at + kMac, kMac);
    std::memcpy(at + kMac, first, kMac);
  }

  void reap_tx() {
    while (const auto completion = tx_->reap())
      free_.push_back(static_cast<std::uint32_t>(completion->token));
  }
  void refill() {
    while (!free_.empty() && rx_->state().free_count > 0) {
      const std::uint32_t buffer = free_.back();
      free_.pop_back();
      const Buffer whole[] = {{header_addr(buffer), kHeader + config_.buffer_bytes}};
      (void)rx_->add({}, whole, buffer);  // there is room
    }
  }

  void end_burst() {
    in_burst_ = 0;
    reap_tx();
    refill();
    pending_.tx = publish(*tx_) || pending_.tx;
    pending_.rx = publish(*rx_) || pending_.rx;
  }
  // True: the device wants to be kicked, and the guest has paid for it.
  bool publish(DriverRing<ModelDriverAccess>& ring) {
    if (ring.state().next_avail == ring.state().published_avail) return false;
    ring.publish();
    if (!ring.kick_needed()) return false;
    core_->run(operation_index(config_.exits ? Op::kGuestKickExit : Op::kGuestKickSyscall));
    ++kicks_;
    return true;
  }

  Core* core_;
  DriverRing<ModelDriverAccess>* rx_;
  DriverRing<ModelDriverAccess>* tx_;
  FramePool pool_;
  ForwarderConfig config_;
  std::vector<std::uint32_t> free_;  // buffers in neither ring
  std::uint32_t in_burst_ = 0;       // frames added to be sent, not yet published
  std::uint64_t received_ = 0;
  std::uint64_t kicks_ = 0;
  std::uint64_t dropped_ = 0;
  Kicks pending_;
};

}  // namespace vringlab::sim
