// The rings between an application and a driver of AF_XDP: one producer, one
// consumer, indices that run free modulo 2^32. Each end keeps its own index to
// itself and only writes it to memory; what the other end wrote is checked, and
// an index that can't be true ends the ring, not the driver.
#pragma once

#include <atomic>
#include <bit>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "core/memory/order.h"
#include "core/spec/error.h"
#include "core/spec/xsk.h"

namespace vringlab {

// Where a ring lies.
template <class T>
struct XskRingAreas {
  std::uint32_t* producer = nullptr;
  std::uint32_t* consumer = nullptr;
  T* entries = nullptr;
  std::uint32_t size = 0;  // entries; a power of two
};

struct XskRingState {
  std::uint32_t own = 0;                // the next entry of this end
  std::uint32_t published = 0;          // `own` as the other end sees it
  std::uint32_t other = 0;              // the other end's index when last read
  RingError broken = RingError::kNone;  // why the ring is used no more
};

// An index in memory. Each end's release pairs with the other's acquire: entries
// are written before the index that gives them away, and read before the one
// that gives them back.
inline std::uint32_t load_xsk_index(const std::uint32_t* index) {
  return std::atomic_ref<std::uint32_t>(*const_cast<std::uint32_t*>(index))
      .load(std::memory_order_acquire);
}
inline void store_xsk_index(std::uint32_t* index, std::uint32_t value) {
  std::atomic_ref<std::uint32_t>(*index).store(value, std::memory_order_release);
}

// Volatile, so that each field is read exactly once whatever the application does meanwhile.
inline std::uint64_t read_entry(const volatile std::uint64_t& entry) { return entry; }
inline XdpDesc read_entry(const volatile XdpDesc& entry) {
  return {entry.addr, entry.len, entry.options};
}

// How one end reaches what it shares with the other: indices, entries, and the headers in
// front of frames.
template <class M>
concept XskMemory = requires(M m, std::uint32_t* index, std::uint64_t& addr, XdpDesc& desc,
                             const std::uint16_t* word, std::byte* bytes) {
  { m.load_index(index) } -> std::same_as<std::uint32_t>;
  m.store_index(index, 0u);
  { m.read(addr) } -> std::same_as<std::uint64_t>;
  { m.read(desc) } -> std::same_as<XdpDesc>;
  m.write(addr, addr);
  m.write(desc, desc);
  { m.read_word(word) } -> std::same_as<std::uint16_t>;
  m.clear(bytes, 0u);
};

struct DirectXskMemory {
  std::uint32_t load_index(const std::uint32_t* index) const { return load_xsk_index(index); }
  void store_index(std::uint32_t* index, std::uint32_t value) const {
    store_xsk_index(index, value);
  }
  template <class T>
  T read(const T& entry) const {
    return read_entry(entry);
  }
  template <class T>
  void write(T& entry, const T& value) const {
    entry = value;
  }
  std::uint16_t read_word(const std::uint16_t* word) const { return load_word(word); }
  void clear(std::byte* at, std::uint32_t bytes) const { std::memset(at, 0, bytes); }
};
static_assert(XskMemory<DirectXskMemory>);

template <class T, XskMemory Memory = DirectXskMemory>
class XskConsumer {
 public:
  // An empty ring whose indices both stand at `start`.
  explicit XskConsumer(const XskRingAreas<T>& areas, std::uint32_t start = 0, Memory memory = {})
      : areas_(areas), state_{.own = start, .published = start, .other = start}, memory_(memory) {
    assert(std::has_single_bit(areas.size));
  }

  // The next entry, or none.
  std::optional<T> take() {
    if (state_.own == state_.other && !refresh()) return std::nullopt;
    return memory_.read(areas_.entries[state_.own++ & (areas_.size - 1)]);
  }
  // Gives the room of what was taken back to the producer.
  void publish() {
    if (state_.published == state_.own) return;
    state_.published = state_.own;
    memory_.store_index(areas_.consumer, state_.published);
  }

  const XskRingState& state() const { return state_; }

 private:
  bool refresh() {
    if (state_.broken != RingError::kNone) return false;
    const std::uint32_t producer = memory_.load_index(areas_.producer);
    // From what it was, at most to a ring beyond what it may take for given back.
    if (producer - state_.other > areas_.size - (state_.other - state_.published)) {
      state_.broken = RingError::kXskIndex;
      return false;
    }
    state_.other = producer;
    return state_.own != producer;
  }

  XskRingAreas<T> areas_;
  XskRingState state_;
  [[no_unique_address]] Memory memory_;
};

template <class T, XskMemory Memory = DirectXskMemory>
class XskProducer {
 public:
  // An empty ring whose indices both stand at `start`.
  explicit XskProducer(const XskRingAreas<T>& areas, std::uint32_t start = 0, Memory memory = {})
      : areas_(areas), state_{.own = start, .published = start, .other = start}, memory_(memory) {
    assert(std::has_single_bit(areas.size));
  }

  // Is there room for so many entries more?
  bool has_room(std::uint32_t entries) {
    if (state_.broken != RingError::kNone) return false;
    if (entries <= areas_.size - (state_.own - state_.other)) return true;
    return refresh() && entries <= areas_.size - (state_.own - state_.other);
  }
  // There is room.
  void put(const T& entry) {
    assert(state_.own - state_.other < areas_.size);
    memory_.write(areas_.entries[state_.own++ & (areas_.size - 1)], entry);
  }
  void publish() {
    if (state_.published == state_.own) return;
    state_.published = state_.own;
    memory_.store_index(areas_.producer, state_.published);
  }

  const XskRingState& state() const { return state_; }

 private:
  bool refresh() {
    const std::uint32_t consumer = memory_.load_index(areas_.consumer);
    // From what it was, at most to what it could see.
    if (consumer - state_.other > state_.published - state_.other) {
      state_.broken = RingError::kXskIndex;
      return false;
    }
    state_.other = consumer;
    return true;
  }

  XskRingAreas<T> areas_;
  XskRingState state_;
  [[no_unique_address]] Memory memory_;
};

}  // namespace vringlab
