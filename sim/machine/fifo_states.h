// What a cache replaced first in, first out allows with each of many items, as
// one byte an item. For a first level: a look-up, which nearly every access is,
// is one test of that byte; a fill, dearer than one of FifoTags, clears the byte
// of the item whose way it takes.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace vringlab::sim {

template <std::uint32_t Ways>
class FifoStates {
 public:
  // Items are numbers below `items`. A power of two sets, rounded down.
  FifoStates(std::uint32_t items, std::uint32_t sets)
      : mask_(std::bit_floor(sets) - 1),
        nothing_(items),
        states_(items + 1),
        sets_(std::bit_floor(sets)) {
    for (Set& set : sets_) set.items.fill(nothing_);
  }

  // An item's byte. Not of a character type: a store of one of those may change any
  // pointer, as far as the compiler knows, and this is stored with each fill.
  enum class State : std::uint8_t {};

  // The bytes alone, without the way through the object; valid as long as it,
  // wherever it is moved.
  struct View {
    const State* states;

    bool reads(std::uint32_t item) const { return (bits(states[item]) & kRead) != 0; }
    bool writes(std::uint32_t item) const { return (bits(states[item]) & kWrite) != 0; }
  };
  View view() const { return {states_.data()}; }

  // Is the item held, and may it be written?
  bool reads(std::uint32_t item) const { return view().reads(item); }
  bool writes(std::uint32_t item) const { return view().writes(item); }

  // Of an item that is not held.
  void fill(std::uint32_t item, bool writable) {
    Set& set = sets_[item & mask_];
    const std::uint32_t way = set.next;
    set.next = (way + 1) % Ways;
    states_[set.items[way]] = State{};
    set.items[way] = item;
    states_[item] = State(way << kWayShift | (writable ? kWrite : 0u) | kRead);
  }
  // Of an item that is held.
  void allow_writes(std::uint32_t item) { states_[item] = State(bits(states_[item]) | kWrite); }
  void forbid_writes(std::uint32_t item) { states_[item] = State(bits(states_[item]) & ~kWrite); }
  // Its way stays empty until the set has gone round.
  void invalidate(std::uint32_t item) {
    const unsigned state = bits(states_[item]);
    if (state == 0) return;
    sets_[item & mask_].items[state >> kWayShift] = nothing_;
    states_[item] = State{};
  }

 private:
  static constexpr unsigned kRead = 1;
  static constexpr unsigned kWrite = 2;
  static constexpr unsigned kWayShift = 2;
  static_assert(Ways <= 64, "a way has six bits of the byte");

  static constexpr unsigned bits(State state) { return static_cast<unsigned>(state); }

  struct alignas(64) Set {  // with eight ways a cache line of the host, found by a shift
    std::array<std::uint32_t, Ways> items;  // in each way; `nothing_`: empty
    std::uint32_t next = 0;                 // the way that the next fill takes
  };

  std::uint32_t mask_;         // sets - 1; the set of an item is its lowest bits
  std::uint32_t nothing_;      // an item more than there are: a fill of an empty way evicts it
  std::vector<State> states_;  // by item; 0: not held, else its way and what it allows
  std::vector<Set> sets_;
};

}  // namespace vringlab::sim
