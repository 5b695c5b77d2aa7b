// All that sits on a ring with a DMA api, against a device and an application that
// write what they like. An input is a byte of configuration and a list of
// operations; see DriverDma::run.
#pragma once

#include <memory>

#include "tests/fuzz/driver_dma_users.h"

namespace vringlab::test {

enum class DmaOp : std::uint8_t {
  kStep,      // u8: of the ring's user; see there
  kComplete,  // u8 n, u32 len: the device completes what the n-th avail entry names
  kHeader,    // u8 descriptor, u16: the device writes num_buffers where the buffer begins
  kElement,   // u8 slot, u32 id, u32 len
  kUsedIdx,   // u16
  kScribble,  // u16 offset, u8 count, bytes: the ring's memory, tables and all
  kIndex,     // u8 which, u32: an index of the application's rings
  kEntry,     // u8 slot, u32 addr, u32 more of it, u32 len, u32 options: of its tx and fill rings
  kOffer,     // u8 chunk, u16 len: a frame on the tx ring, its chunk on the fill ring
  kCollect,   // all of the completion and rx rings
  kFail,      // u8: maps that succeed before one fails; the top bit: all from then on
  kHeal,      // maps succeed
  kReset,
  kResize,  // u8: which size; the top bit: there is no memory
  kCount
};

class DriverDma {
 public:
  enum class User : std::uint8_t { kChains, kMerged, kSingle, kXskTx, kXskRx, kPremapped };
  static std::uint8_t encode(User user, std::uint64_t features, bool headroom = false) {
    return static_cast<std::uint8_t>(
        static_cast<unsigned>(user) | ((features & kIndirect) != 0 ? 8u : 0u) |
        ((features & kEventIdx) != 0 ? 16u : 0u) | (headroom ? 32u : 0u));
  }

  explicit DriverDma(std::uint8_t bits)
      : memory_(guest_, kPlatform | kRingReset | ((bits & 8) != 0 ? kIndirect : 0) |
                            ((bits & 16) != 0 ? kEventIdx : 0)),
        ring_(make(*memory_.allocate(8))),
        device_(guest_, ring_.config()) {
    const User user = static_cast<User>(bits % 8 % 6);
    if (user != User::kChains)
      require(ring_.set_premapped() == RingError::kNone, "an empty queue can be premapped");
    user_ = make_user(user, (bits & 32) != 0);
  }

  void run(Input input) {
    while (!input.empty()) {
      one(input);
      check();
    }
    dma_.never_fail();
    reset();
    check();
    user_->end();
    require(dma_.mapped() == 0 && dma_.mapped_bytes() == 0, "nothing stays mapped");
    require(dma_.fault().empty(), dma_.fault().c_str());
  }

 private:
  static constexpr std::uint32_t kMaxRing = 16;

  FuzzRing make(const TwoRings::Place& place) {
    return {place.access, place.config, place.tables, &dma_};
  }
  std::unique_ptr<RingUser> make_user(User user, bool headroom) {
    std::byte* host = &guest_.byte(kFuzzData);
    const XskHeader header = headroom ? XskHeader::kHeadroom : XskHeader::kShared;
    switch (user) {
      case User::kMerged:
        return std::make_unique<ReceiveUser<MapPerFragment<CountingDma>>>(ring_, dma_, host);
      case User::kSingle:
        return std::make_unique<ReceiveUser<MapPerBuffer<CountingDma>>>(ring_, dma_, host);
      case User::kXskTx:
        return std::make_unique<XskTxUser>(ring_, dma_, host, app_, header);
      case User::kXskRx:
        return std::make_unique<XskRxUser>(ring_, dma_, host, app_, kMaxRing);
      default:
        return std::make_unique<ChainUser>(ring_, dma_);
    }
  }

  void one(Input& input) {
    RawRing& queue = *device_.ring();
    switch (static_cast<DmaOp>(input.u8() % static_cast<std::uint8_t>(DmaOp::kCount))) {
      case DmaOp::kStep:
        return user_->step(input.u8());
      case DmaOp::kComplete: {
        const std::uint16_t head = queue.avail(input.u8() & queue.areas.mask());
        return queue.complete(head, input.u32());
      }
      case DmaOp::kHeader:
        return header(input);
      case DmaOp::kElement: {
        UsedElem& elem = queue.used(input.u8() & queue.areas.mask());
        elem.id = input.u32();
        elem.len = input.u32();
        return;
      }
      case DmaOp::kUsedIdx:
        queue.used_idx() = input.u16();
        return;
      case DmaOp::kScribble:
        return scribble(input);
      case DmaOp::kIndex:
        return index(input);
      case DmaOp::kEntry:
        return entry(input);
      case DmaOp::kOffer: {
        const std::uint64_t addr = (input.u8() & 7u) * std::uint64_t{2048} + 256;
        app_.tx.offer({addr, input.u16(), 0});
        app_.fill.offer(addr);
        return;
      }
      case DmaOp::kCollect:
        app_.completion.consumer = app_.completion.producer;
        app_.rx.consumer = app_.rx.producer;
        return;
      case DmaOp::kFail: {
        const std::uint8_t good = input.u8();
        return dma_.fail_after(good & 7, good >= 128);
      }
      case DmaOp::kHeal:
        return dma_.never_fail();
      case DmaOp::kReset:
        return reset();
      case DmaOp::kResize:
        return resize(input.u8());
      default:
        return;
    }
  }

  void header(Input& input) {
    RawRing& queue = *device_.ring();
    const Desc desc = queue.desc(input.u8() & queue.areas.mask());
    const std::uint16_t num_buffers = input.u16();
    const auto at = dma_.guest({desc.addr + 10}, 2, true);
    if (at.ok() && at.value().value >= kFuzzData) guest_.write(at.value().value, num_buffers);
  }
  // What lies behind the rings is nobody's.
  void scribble(Input& input) {
    std::uint64_t addr = ring_.config().desc.value + input.u16();
    for (std::uint32_t left = input.u8(); left > 0; --left, ++addr) {
      const std::byte value{input.u8()};
      if (addr < kFuzzData) guest_.byte(addr) = value;
    }
  }
  void index(Input& input) {
    const std::array all = {&app_.fill.producer,       &app_.fill.consumer,      &app_.tx.producer,
                            &app_.tx.consumer,         &app_.rx.producer,        &app_.rx.consumer,
                            &app_.completion.producer, &app_.completion.consumer};
    std::uint32_t& word = *all[input.u8() % all.size()];
    word = input.u32();
  }
  void entry(Input& input) {
    const std::uint32_t slot = input.u8();
    const std::uint32_t low = input.u32();
    const std::uint64_t addr = low | std::uint64_t{input.u32()} << 32;
    app_.fill.at(slot) = addr;
    const std::uint32_t len = input.u32();
    app_.tx.at(slot) = {addr, len, input.u32()};
  }

  auto recycle() {
    return [this](Token token) { user_->recycle(token); };
  }
  void reset() {
    require(reset_queue(ring_, device_, recycle()) == RingError::kNone, "a queue can be reset");
    user_->restart();
    require(ring_.state().free_count == ring_.state().size, "an empty queue is all free");
    enable_queue(ring_, device_);
  }
  void resize(std::uint8_t how) {
    constexpr std::array kSizes = {1u, 2u, 4u, 8u, kMaxRing, 3u};
    memory_.fails = how >= 128;
    const std::uint32_t size = kSizes[how % kSizes.size()];
    const RingError error = resize_queue(ring_, device_, memory_, size, recycle());
    require((error == RingError::kNone) == (ring_.state().size == size), "as asked or as it was");
    if (error == RingError::kNone) user_->restart();
    require(memory_.taken() == 1, "one ring's memory");
  }

  void check() {
    require(dma_.fault().empty(), dma_.fault().c_str());
    user_->check();
  }

  CountingDma dma_;
  RawGuest guest_{{{0, kFuzzData}, {kFuzzData, kFuzzDataBytes}, {kFuzzHeader, 16}}};
  TwoRings memory_;
  FuzzRing ring_;
  HoldingDevice device_;
  XskApp app_{8};
  std::unique_ptr<RingUser> user_;
};

}  // namespace vringlab::test
