// Frame memory of a guest.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/memory/guest_memory.h"

namespace vringlab::sim {

// `count` buffers of `stride` bytes.
struct FramePool {
  static constexpr std::uint32_t kMinStride = 2176;   // mbuf of 2 KiB and its headroom
  static constexpr std::uint32_t kFrameOffset = 128;  // headroom; the header lies at its end

  GuestAddr base;
  std::byte* host = nullptr;
  std::uint32_t count = 0;
  std::uint32_t stride = kMinStride;

  std::uint64_t bytes() const { return std::uint64_t{count} * stride; }
};

// Bytes from one buffer to the next for frames of `frame_bytes`, a multiple of 128.
constexpr std::uint32_t frame_stride(std::uint32_t frame_bytes) {
  const std::uint32_t whole = FramePool::kFrameOffset + frame_bytes;
  return std::max(FramePool::kMinStride, (whole + 127) & ~127u);
}

}  // namespace vringlab::sim
