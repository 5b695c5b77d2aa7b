// Page-fragment allocator: cuts buffers from the end of a chunk, counts them,
// and takes the next idle chunk when one is used up. No allocation after set-up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace vringlab {

inline constexpr std::uint32_t kFragChunkBytes = 32768;  // order-3 pages

class PageFragPool {
 public:
  // `memory` is cut into chunks of kFragChunkBytes; a rest is left alone.
  explicit PageFragPool(std::span<std::byte> memory)
      : memory_(memory), refs_(memory.size() / kFragChunkBytes) {
    idle_.reserve(refs_.size());
    for (std::size_t i = refs_.size(); i > 0; --i)
      idle_.push_back(static_cast<std::uint32_t>(i - 1));
  }

  // `bytes` of memory, a multiple of a cache line, at most a chunk; null when
  // every chunk is in use.
  std::byte* allocate(std::uint32_t bytes) {
    if (bytes > left_ && !next_chunk()) return nullptr;
    left_ -= bytes;
    ++refs_[current_];
    return chunk(current_) + left_;
  }

  void release(const std::byte* buffer) {
    const auto index = static_cast<std::uint32_t>((buffer - memory_.data()) / kFragChunkBytes);
    if (--refs_[index] == 0 && index != current_) idle_.push_back(index);
  }

  // Buffers handed out and not yet released.
  std::uint64_t outstanding() const {
    std::uint64_t sum = 0;
    for (const std::uint32_t refs : refs_) sum += refs;
    return sum;
  }

 private:
  static constexpr std::uint32_t kNoChunk = UINT32_MAX;

  std::byte* chunk(std::uint32_t index) const {
    return memory_.data() + std::size_t{index} * kFragChunkBytes;
  }
  bool next_chunk() {
    if (current_ != kNoChunk && refs_[current_] == 0) {
      left_ = kFragChunkBytes;  // all its buffers have come back: cut it anew
      return true;
    }
    if (idle_.empty()) return false;
    current_ = idle_.back();
    idle_.pop_back();
    left_ = kFragChunkBytes;
    return true;
  }

  std::span<std::byte> memory_;
  std::vector<std::uint32_t> refs_;  // buffers out, per chunk
  std::vector<std::uint32_t> idle_;  // chunks with none out; the last freed is taken first
  std::uint32_t current_ = kNoChunk;
  std::uint32_t left_ = 0;  // bytes of the current chunk still uncut
};

}  // namespace vringlab
