// The driver's half against a device that writes what it likes, when it likes.
// An input is a byte of configuration and a list of operations; see DriverUsed::run.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "core/driver/driver_ring.h"
#include "core/memory/direct_access.h"
#include "tests/double/raw_guest.h"
#include "tests/fuzz/input.h"

namespace vringlab::test {

enum class UsedOp : std::uint8_t {
  kAdd,      // u8: buffers, low nibble readable, high nibble writable
  kPublish,  // and decide about a kick
  kReap,
  kComplete,  // u8 n, u32 len: the device completes the n-th chain in flight
  kElement,   // u8 slot, u32 id, u32 len
  kUsedIdx,   // u16
  kScribble,  // u8 offset, u8 count, bytes: the used area
  kEnable,
  kDelay,
  kDisable,
  kDetach,  // all
  kReset,
  kCount
};

class DriverUsed {
 public:
  explicit DriverUsed(std::uint8_t bits)
      : event_idx_((bits & 1) != 0),
        size_(static_cast<std::uint16_t>(8 >> (bits >> 6))),
        guest_({{0, 0x1000}, {kTables, std::size_t{size_} * kEntries * sizeof(Desc)}}),
        ring_(guest_, size_, (event_idx_ ? kEventIdx : 0) | ((bits & 2) != 0 ? kIndirect : 0)),
        driver_(DirectDriverAccess(ring_.areas), ring_.config,
                {{kTables}, reinterpret_cast<Desc*>(&guest_.byte(kTables)), kEntries}) {}

  void run(Input input) {
    while (!input.empty()) {
      one(input);
      check();
    }
    detach();
    check();
  }

 private:
  // What the driver owes its caller.
  struct Owed {
    std::uint16_t head = 0;
    int descriptors = 0;         // taken from the table
    std::uint64_t capacity = 0;  // bytes the device may write
  };

  void one(Input& input) {
    switch (static_cast<UsedOp>(input.u8() % static_cast<std::uint8_t>(UsedOp::kCount))) {
      case UsedOp::kAdd:
        return add(input.u8());
      case UsedOp::kPublish:
        driver_.publish();
        driver_.kick_needed();
        return;
      case UsedOp::kReap:
        return reap();
      case UsedOp::kComplete:
        return complete(input.u8(), input.u32());
      case UsedOp::kElement:
        return element(input);
      case UsedOp::kUsedIdx:
        ring_.used_idx() = input.u16();
        return;
      case UsedOp::kScribble:
        return scribble(input);
      case UsedOp::kEnable:
        require(!driver_.enable_callback() || !broken(), "a broken queue has no work");
        return;
      case UsedOp::kDelay:
        require(!driver_.enable_callback_delayed() || !broken(), "a broken queue has no work");
        return;
      case UsedOp::kDisable:
        return driver_.disable_callback();
      case UsedOp::kDetach:
        return detach();
      case UsedOp::kReset:
        owed_.clear();
        return driver_.reset();
      default:
        return;
    }
  }

  void add(std::uint8_t counts) {
    std::array<Buffer, 16> buffers;
    for (std::uint32_t i = 0; i < buffers.size(); ++i) buffers[i] = {{0x8000}, i + 1};
    const std::size_t readable = counts & 15;
    const std::size_t writable = counts >> 4;
    const std::span all(buffers);
    const int before = driver_.state().free_count;
    const auto head = driver_.add(all.first(readable), all.first(writable), next_token_);
    if (!head.ok()) {
      require(driver_.state().free_count == before, "a refused chain takes nothing");
      return;
    }
    const bool table =
        driver_.state().indirect && readable + writable > 1 && readable + writable <= kEntries;
    owed_[next_token_++] = {head.value(), table ? 1 : static_cast<int>(readable + writable),
                            writable * (writable + 1) / 2};
  }

  void reap() {
    const bool was_broken = broken();
    const auto completion = driver_.reap();
    if (!completion) return;
    require(!was_broken, "a broken queue completes nothing");
    const auto owed = owed_.find(completion->token);
    require(owed != owed_.end(), "a token comes back once");
    require(completion->written_bytes <= owed->second.capacity, "no more than there was room for");
    owed_.erase(owed);
  }

  void complete(std::uint8_t n, std::uint32_t len) {
    if (owed_.empty()) return;
    const Owed& owed = std::next(owed_.begin(), n % static_cast<int>(owed_.size()))->second;
    ring_.complete(owed.head, len);
  }

  void element(Input& input) {
    const std::size_t slot = input.u8();
    UsedElem& elem = ring_.used(slot % size_);
    elem.id = input.u32();
    elem.len = input.u32();
  }

  void scribble(Input& input) {
    const std::uint64_t end = ring_.config.used.value + used_bytes(size_, event_idx_);
    std::uint64_t addr = ring_.config.used.value + input.u8();
    for (std::uint32_t left = input.u8(); left > 0; --left, ++addr) {
      const std::byte value{input.u8()};
      if (addr < end) guest_.byte(addr) = value;
    }
  }

  void detach() {
    while (const auto token = driver_.detach_unused())
      require(owed_.erase(*token) == 1, "a token comes back once");
    require(owed_.empty(), "every token comes back");
  }

  void check() {
    int descriptors = driver_.state().free_count;
    for (const auto& [token, owed] : owed_) descriptors += owed.descriptors;
    require(descriptors == size_, "each descriptor is free or in flight");
    require(driver_.state().in_flight == owed_.size(), "so is each head");
  }

  bool broken() const { return driver_.state().broken != RingError::kNone; }

  static constexpr std::uint64_t kTables = 0x4000;
  static constexpr std::uint16_t kEntries = 4;

  bool event_idx_;
  std::uint16_t size_;
  RawGuest guest_;
  RawRing ring_;
  DriverRing<DirectDriverAccess> driver_;
  std::map<Token, Owed> owed_;
  Token next_token_ = 1;
};

}  // namespace vringlab::test
