// Receive buffers of virtio-net: cut from large fragments, as long as packets
// were of late, mapped by a policy. For a premapped queue.
#pragma once

#include <cassert>
#include <cstdint>
#include <vector>

#include "core/driver/buffer.h"
#include "core/driver/packet_length.h"
#include "core/driver/rx_mapping.h"

namespace vringlab {

struct RxBuffersConfig {
  GuestAddr base;                        // of the fragments, side by side
  std::uint32_t fragments = 0;           // how many
  std::uint32_t fragment_bytes = 32768;  // of each; no less than a page
  RxSizing sizing;
};

// Names a buffer from take to release.
using RxToken = std::uint32_t;

struct RxBuffer {
  RxToken token = 0;
  Buffer device;   // as the device sees it
  GuestAddr addr;  // as the driver does
};

struct RxBuffersState {
  std::uint32_t current = UINT32_MAX;  // the fragment that is cut; UINT32_MAX: none
  std::uint32_t offset = 0;            // of the next cut
  std::uint32_t at_device = 0;         // buffers
  std::uint32_t held = 0;              // buffers that came back and are not released
};

// take: a buffer to be added. detach: it came back, read what was written.
// release: its memory may be cut anew. Allocates when built, never later.
template <RxMapping Mapping>
class RxBuffers {
 public:
  template <DmaApi Dma>
  RxBuffers(Dma& dma, const RxBuffersConfig& config)
      : config_(config), mapping_(dma, config.fragments), refs_(config.fragments) {
    const std::uint32_t most = config.fragment_bytes / config.sizing.buffer_bytes(0);
    cuts_.resize(std::size_t{most} * config.fragments);
    for (std::size_t i = cuts_.size(); i > 0; --i) free_.push_back(static_cast<RxToken>(i - 1));
    for (std::uint32_t i = config.fragments; i > 0; --i) idle_.push_back(i - 1);
  }

  // kNoBuffer: every fragment is in use. What the DMA api says, if it can't map.
  Result<RxBuffer> take() {
    const std::uint32_t bytes = config_.sizing.buffer_bytes(length_.average());
    if (!has_room(bytes)) {
      if (const RingError error = next_fragment(); error != RingError::kNone) return error;
    }
    const RxCut cut{state_.current, state_.offset, bytes};
    const Result<DmaAddr> dma = mapping_.attach(cut, addr_of(cut));
    if (!dma.ok()) return dma.error();
    state_.offset += bytes;
    ++state_.at_device;
    ++refs_[cut.fragment];
    const RxToken token = free_.back();
    free_.pop_back();
    cuts_[token] = {cut, dma.value(), true};
    return RxBuffer{token, {{dma.value().value}, bytes}, addr_of(cut)};
  }

  // From now on the memory is the processor's. Returns where it is.
  GuestAddr detach(RxToken token, std::uint32_t written) {
    Cut& cut = cuts_[token];
    assert(cut.at_device);
    cut.at_device = false;
    --state_.at_device;
    ++state_.held;
    mapping_.detach(cut.where, cut.dma, written);
    return addr_of(cut.where);
  }
  void release(RxToken token) {
    assert(!cuts_[token].at_device);
    --state_.held;
    free_.push_back(token);
    put_fragment(cuts_[token].where.fragment);
  }
  // A buffer that the device never used, or that could not be added.
  void give_back(RxToken token) {
    detach(token, 0);
    release(token);
  }

  // No more is cut from the current fragment: with all buffers back nothing is mapped.
  void retire() {
    if (state_.current == kNone) return;
    const std::uint32_t fragment = state_.current;
    state_.current = kNone;
    mapping_.close(fragment);
    put_fragment(fragment);
  }

  // What a packet took, for buffers to come.
  void record(std::uint32_t packet_bytes) { length_.add(packet_bytes); }

  std::uint32_t length(RxToken token) const { return cuts_[token].where.len; }
  std::uint32_t average() const { return length_.average(); }
  std::size_t idle() const { return idle_.size(); }
  const RxBuffersConfig& config() const { return config_; }
  const RxBuffersState& state() const { return state_; }
  const Mapping& mapping() const { return mapping_; }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Cut {
    RxCut where;
    DmaAddr dma;
    bool at_device = false;
  };

  GuestAddr addr_of(const RxCut& cut) const {
    return {config_.base.value + std::uint64_t{cut.fragment} * config_.fragment_bytes + cut.offset};
  }
  bool has_room(std::uint32_t bytes) const {
    return state_.current != kNone && bytes <= config_.fragment_bytes - state_.offset;
  }
  RingError next_fragment() {
    retire();
    if (idle_.empty()) return RingError::kNoBuffer;
    const std::uint32_t fragment = idle_.back();
    const RingError error =
        mapping_.open(fragment, addr_of({fragment, 0, 0}), config_.fragment_bytes);
    if (error != RingError::kNone) return error;
    idle_.pop_back();
    state_.current = fragment;
    state_.offset = 0;
    refs_[fragment] = 1;
    return RingError::kNone;
  }
  void put_fragment(std::uint32_t fragment) {
    if (--refs_[fragment] == 0) idle_.push_back(fragment);
  }

  RxBuffersConfig config_;
  RxBuffersState state_;
  PacketLength length_;
  Mapping mapping_;
  std::vector<std::uint32_t>
      refs_;  // of each fragment: unreleased buffers, and one while it is cut
  std::vector<std::uint32_t> idle_;  // fragments with none; the last one idle is taken first
  std::vector<Cut> cuts_;            // by token
  std::vector<RxToken> free_;        // tokens
};

}  // namespace vringlab
