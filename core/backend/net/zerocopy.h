// What zero-copy transmission keeps of its frames between the sink and the driver: whose
// pieces are lent, in which order chains go back, and whether lending still pays.
#pragma once

#include <cassert>
#include <cstdint>
#include <vector>

namespace vringlab {

// A chain has a slot from the moment it is dealt with until it is given back. Slots are
// used round and round, in the order chains were taken, and leave in that order: one that
// is done waits behind one whose pieces are lent. Indices run free modulo 2^16; `& mask`
// makes a slot of one.
class ZeroCopySlots {
 public:
  // `capacity`: a power of two up to 32768; chains in flight are never more.
  explicit ZeroCopySlots(std::uint16_t capacity)
      : slots_(capacity), mask_(static_cast<std::uint16_t>(capacity - 1)) {
    assert(capacity > 0 && (capacity & mask_) == 0);
  }

  // The frame of `head` is lent to the sink, which names it by the slot returned.
  std::uint16_t lend(std::uint16_t head) {
    ++lent_;
    return append({head, State::kLent});
  }

  // The sink didn't take the frame lent last: as if it had not been lent.
  void roll_back() {
    assert(used() > 0 && at(static_cast<std::uint16_t>(upend_ - 1)).state == State::kLent);
    --upend_;
    at(upend_).state = State::kFree;
    --lent_;
  }

  // The chain of `head` needs waiting for nothing but its turn.
  void record_done(std::uint16_t head) { append({head, State::kDone}); }

  // The sink has done with a frame lent to it. Slots are its to name: a wrong one is its bug.
  void complete(std::uint16_t slot) {
    assert(slot <= mask_ && slots_[slot].state == State::kLent);
    slots_[slot].state = State::kDone;
    --lent_;
  }

  // Could a chain be given back?
  bool finished() const { return used() > 0 && at(done_).state == State::kDone; }

  // Calls give_back(head) for each chain that waits for none before it, in order.
  template <class F>
  void retire(F give_back) {
    while (finished()) {
      at(done_).state = State::kFree;
      give_back(at(done_++).head);
    }
  }

  // Frames whose pieces the sink still has.
  std::uint16_t lent() const { return lent_; }

  // Chains dealt with and not given back, lent ones included; at most 32768.
  std::uint16_t used() const { return static_cast<std::uint16_t>(upend_ - done_); }

  // Back to none; nothing may be lent.
  void clear() {
    assert(lent_ == 0);
    retire([](std::uint16_t) {});
  }

 private:
  enum class State : std::uint8_t { kFree, kLent, kDone };
  struct Slot {
    std::uint16_t head = 0;  // of the chain
    State state = State::kFree;
  };

  std::uint16_t append(const Slot& slot) {
    assert(used() <= mask_);
    at(upend_) = slot;
    return static_cast<std::uint16_t>(upend_++ & mask_);
  }
  Slot& at(std::uint16_t index) { return slots_[index & mask_]; }
  const Slot& at(std::uint16_t index) const { return slots_[index & mask_]; }

  std::vector<Slot> slots_;
  std::uint16_t mask_;
  std::uint16_t upend_ = 0;  // slot of the next chain
  std::uint16_t done_ = 0;   // slot of the oldest chain not given back, if there is one
  std::uint16_t lent_ = 0;   // slots in state kLent
};

// Does lending pay? A sink that has to copy a lent frame after all, because its reader
// is slow or wants the bytes, makes it dearer than a frame copied at once. One such frame
// in 64 is borne; more, and frames are copied until the next window.
struct ZeroCopyRecord {
  static constexpr std::uint32_t kPacketsPerFailure = 64;
  static constexpr std::uint32_t kWindow = 1024;

  std::uint32_t packets = 0;   // sent in this window, lent or not; below kWindow
  std::uint32_t failures = 0;  // lent frames of which it was learnt in it that they were copied

  bool pays() const { return packets / kPacketsPerFailure >= failures; }
  void count_packet() {
    if (++packets == kWindow) *this = {};
  }
  void count_failure() { ++failures; }
};

}  // namespace vringlab
