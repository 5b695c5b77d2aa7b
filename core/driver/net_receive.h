// The receive loop of a virtio-net driver with mergeable buffers: refill, then
// packets up to a budget. Believes the device in nothing but what it wrote.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "core/driver/driver_ring.h"
#include "core/driver/rx_buffers.h"
#include "core/spec/net.h"

namespace vringlab {

inline constexpr std::uint32_t kNapiBudget = 64;  // packets a poll

// A part of a packet in the driver's memory.
struct RxPiece {
  RxToken token = 0;  // to release
  GuestAddr addr;
  std::uint32_t len = 0;  // bytes
};

// Gets packets, the header apart; releases every piece sooner or later.
template <class S>
concept PacketStack = requires(S s, const VirtioNetHdr& header, std::span<const RxPiece> pieces) {
  s.packet(header, pieces);
};

struct PollResult {
  std::uint32_t packets = 0;  // that the stack got
  std::uint32_t dropped = 0;  // too short, of missing or of too many buffers
  std::uint32_t buffers = 0;  // that came back
  std::uint32_t refilled = 0;
  bool kick = false;  // the device wants to know of what was refilled
};

// `Ring` is a premapped DriverRing, or one that does not map at all.
template <class Ring, class Buffers, PacketStack Stack>
class NetReceive {
 public:
  // `host`: where the driver sees the first fragment. Allocates; nothing later does.
  NetReceive(Ring& ring, Buffers& buffers, const std::byte* host, Stack& stack)
      : ring_(&ring), buffers_(&buffers), host_(host), stack_(&stack) {
    pieces_.reserve(ring.state().size);
  }

  // Adds buffers until the ring is full or no more are to be had.
  std::uint32_t refill() {
    assert(!ring_->state().maps || ring_->state().premapped);
    std::uint32_t added = 0;
    while (ring_->state().free_count > 0 && ring_->state().broken == RingError::kNone) {
      const Result<RxBuffer> buffer = buffers_->take();
      if (!buffer.ok()) break;
      const auto head = ring_->add({}, {&buffer.value().device, 1}, buffer.value().token);
      if (!head.ok()) {
        buffers_->give_back(buffer.value().token);
        break;
      }
      ++added;
    }
    if (added > 0) ring_->publish();
    return added;
  }

  // At most `budget` packets; then buffers, once half a budget of them is missing.
  PollResult poll(std::uint32_t budget = kNapiBudget) {
    PollResult result;
    while (result.packets + result.dropped < budget && receive(result)) {
    }
    end_poll(result, budget);
    return result;
  }

  // The same in steps: packets one a call, false if none is there; then the end.
  bool receive_one(PollResult& result) { return receive(result); }
  void end_poll(PollResult& result, std::uint32_t budget = kNapiBudget) {
    const std::uint32_t low = std::min<std::uint32_t>(budget, ring_->state().size) / 2;
    if (ring_->state().free_count > low) result.refilled = refill();
    if (result.refilled > 0) result.kick = ring_->kick_needed();
  }

  // What a reset queue gives back.
  void recycle(Token token) { buffers_->give_back(static_cast<RxToken>(token)); }

 private:
  static constexpr std::uint32_t kHeader = sizeof(VirtioNetHdr);

  // False: nothing is there.
  bool receive(PollResult& result) {
    const std::optional<Completion> first = ring_->reap();
    if (!first) return false;
    pieces_.clear();
    VirtioNetHdr header;
    bool good = take_first(*first, header);
    ++result.buffers;
    std::uint32_t total = good ? pieces_[0].len : 0;
    for (std::uint32_t more = good ? header.num_buffers : 1; more > 1; --more) {
      const std::optional<Completion> next = ring_->reap();
      if (!next) {
        good = false;  // the device publishes a packet whole, or lies
        break;
      }
      ++result.buffers;
      good = take_next(*next) && good;
      total += next->written_bytes;
    }
    deliver(good, header, total, result);
    return true;
  }
  bool take_first(const Completion& done, VirtioNetHdr& header) {
    const auto token = static_cast<RxToken>(done.token);
    const GuestAddr addr = buffers_->detach(token, done.written_bytes);
    if (done.written_bytes < kHeader) {
      buffers_->release(token);
      return false;
    }
    std::memcpy(&header, host_ + (addr.value - buffers_->config().base.value), kHeader);
    pieces_.push_back({token, {addr.value + kHeader}, done.written_bytes - kHeader});
    return true;
  }
  // False: a piece more than there is room for, and released.
  bool take_next(const Completion& done) {
    const auto token = static_cast<RxToken>(done.token);
    const GuestAddr addr = buffers_->detach(token, done.written_bytes);
    if (pieces_.size() == pieces_.capacity()) {
      buffers_->release(token);
      return false;
    }
    pieces_.push_back({token, addr, done.written_bytes});
    return true;
  }
  void deliver(bool good, const VirtioNetHdr& header, std::uint32_t total, PollResult& result) {
    if (good && total >= kEthernetHeaderBytes) {
      buffers_->record(total);
      stack_->packet(header, pieces_);
      ++result.packets;
      return;
    }
    for (const RxPiece& piece : pieces_) buffers_->release(piece.token);
    ++result.dropped;
  }

  Ring* ring_;
  Buffers* buffers_;
  const std::byte* host_;
  Stack* stack_;
  std::vector<RxPiece> pieces_;  // of the packet at hand
};

}  // namespace vringlab
