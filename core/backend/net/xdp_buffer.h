// The buffer that a transmitted frame travels in, laid out as vhost-net does for
// an XDP-capable socket:
//
//   hard_start  metadata {buffer length, virtio-net header}
//               padding and headroom for the program
//   data        the frame
//               room for the shared info of a socket buffer
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/spec/net.h"

namespace vringlab {

struct XdpMeta {
  std::uint32_t buffer_bytes = 0;  // whole length from hard_start
  VirtioNetHdr header;             // as the guest sent it
};

struct XdpBuffer {
  std::byte* hard_start = nullptr;
  std::uint32_t frame_offset = 0;  // bytes from hard_start to the frame
  std::uint32_t frame_bytes = 0;

  XdpMeta& meta() const { return *reinterpret_cast<XdpMeta*>(hard_start); }
  std::byte* header() const { return reinterpret_cast<std::byte*>(&meta().header); }
  std::byte* frame() const { return hard_start + frame_offset; }
};

inline constexpr std::uint32_t kCacheLineBytes = 64;
inline constexpr std::uint32_t kXdpPadBytes = 64;          // in front of every frame
inline constexpr std::uint32_t kXdpHeadroomBytes = 256;    // what XDP programs are promised
inline constexpr std::uint32_t kSharedInfoBytes = 320;     // 64-bit kernels, 17 fragments
inline constexpr std::uint32_t kXdpBufferMaxBytes = 4096;  // a buffer never leaves its page

constexpr std::uint32_t align_to_line(std::uint32_t bytes) {
  return (bytes + kCacheLineBytes - 1) & ~(kCacheLineBytes - 1);
}
constexpr std::uint32_t xdp_frame_offset(bool headroom) {
  return kXdpPadBytes + (headroom ? kXdpHeadroomBytes : 0);
}
// Bytes to allocate for a frame of `frame_bytes`, below 2^31.
constexpr std::uint32_t xdp_buffer_bytes(std::uint32_t frame_bytes, bool headroom) {
  return align_to_line(xdp_frame_offset(headroom) + frame_bytes) + kSharedInfoBytes;
}
static_assert(sizeof(XdpMeta) <= kXdpPadBytes);

}  // namespace vringlab
