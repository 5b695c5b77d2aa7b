// What an AF_XDP socket shares between its application and its driver on a simulated machine:
// four rings, their wake-up flags and the umem, in guest memory.
#pragma once

#include <span>

#include "core/backend/net/xdp_buffer.h"
#include "core/driver/xsk_rx.h"
#include "core/driver/xsk_tx.h"
#include "sim/access/model_access.h"

namespace vringlab::sim {

// One end of the rings: each access costs what its line costs.
class ModelXskMemory {
 public:
  ModelXskMemory(Core& core, Step step) : core_(&core), step_(step) {}

  std::uint32_t load_index(const std::uint32_t* index) const {
    load(index);
    return memory_.load_index(index);
  }
  void store_index(std::uint32_t* index, std::uint32_t value) const {
    store(index);
    memory_.store_index(index, value);
  }
  template <class T>
  T read(const T& entry) const {
    load(&entry);
    return memory_.read(entry);
  }
  template <class T>
  void write(T& entry, const T& value) const {
    store(&entry);
    memory_.write(entry, value);
  }
  std::uint16_t read_word(const std::uint16_t* word) const {
    load(word);
    return memory_.read_word(word);
  }
  void clear(std::byte* at, std::uint32_t bytes) const {
    core_->store_lines(core_->line_of(at), core_->line_of(at + bytes - 1), step_);
    memory_.clear(at, bytes);
  }

 private:
  void load(const void* p) const { core_->load(core_->line_of(p), step_); }
  void store(const void* p) const { core_->store(core_->line_of(p), step_); }

  DirectXskMemory memory_;
  Core* core_;
  Step step_;
};
static_assert(XskMemory<ModelXskMemory>);

struct XskLayout {
  GuestAddr umem;
  std::uint32_t chunks = 0;
  GuestAddr header;             // zeros, in front of every frame that is sent
  GuestAddr rings;              // two of descriptors or addresses, side by side
  std::uint32_t ring_size = 0;  // entries of each
  std::uint32_t chunk_bytes = 4096;

  std::uint64_t umem_bytes() const { return std::uint64_t{chunks} * chunk_bytes; }
  // Of a ring: its two indices and its flags, a line each, and its entries.
  static std::uint64_t ring_bytes(std::uint32_t entries, std::size_t entry_bytes) {
    return kEntriesAt + entries * entry_bytes;
  }
  std::uint64_t rings_bytes() const {
    return ring_bytes(ring_size, sizeof(XdpDesc)) + ring_bytes(ring_size, sizeof(std::uint64_t));
  }

  static constexpr std::uint32_t kEntriesAt = 3 * kCacheLineBytes;
};

// The descriptor ring (tx or rx) and the address ring (completion or fill) of one direction.
class XskSocket {
 public:
  XskSocket(const XskLayout& layout, std::span<std::byte> guest)
      : layout_(layout), guest_(guest.data()) {}

  XskRingAreas<XdpDesc> frames() const { return areas<XdpDesc>(layout_.rings.value); }
  XskRingAreas<std::uint64_t> addresses() const {
    return areas<std::uint64_t>(layout_.rings.value +
                                XskLayout::ring_bytes(layout_.ring_size, sizeof(XdpDesc)));
  }
  // Set while the driver sleeps and wants to be woken for what is new.
  std::uint32_t* need_wakeup() const {
    return reinterpret_cast<std::uint32_t*>(guest_ + layout_.rings.value + 2 * kCacheLineBytes);
  }
  std::byte* chunk(std::uint64_t addr) const { return guest_ + layout_.umem.value + addr; }
  XskUmemConfig umem_config() const {
    return {.base = layout_.umem,
            .host = chunk(0),
            .chunks = layout_.chunks,
            .chunk_bytes = layout_.chunk_bytes};
  }
  const XskLayout& layout() const { return layout_; }

 private:
  template <class T>
  XskRingAreas<T> areas(std::uint64_t at) const {
    return {reinterpret_cast<std::uint32_t*>(guest_ + at),
            reinterpret_cast<std::uint32_t*>(guest_ + at + kCacheLineBytes),
            reinterpret_cast<T*>(guest_ + at + XskLayout::kEntriesAt), layout_.ring_size};
  }

  XskLayout layout_;
  std::byte* guest_;
};

}  // namespace vringlab::sim
