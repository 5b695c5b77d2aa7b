// Where a receive path gets its packets from: a socket with a ring of them.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/spec/net.h"

namespace vringlab {

// A packet that waits for guest buffers, its virtio-net header apart.
struct RxFrame {
  const std::byte* frame = nullptr;
  std::uint32_t bytes = 0;  // of the frame, below 2^31
  VirtioNetHdr header;      // num_buffers is the device's to set
};

// `dequeue` takes up to out.size() packets in one go, oldest first, and says how
// many; `receive`: the bytes of one are about to be copied; `release` takes back one
// that was delivered or dropped; `pending`: would dequeue find any?
template <class S>
concept RxSource = requires(S s, std::span<RxFrame> out, const RxFrame& packet) {
  { s.dequeue(out) } -> std::same_as<std::size_t>;
  s.receive(packet);
  s.release(packet);
  { s.pending() } -> std::same_as<bool>;
};

}  // namespace vringlab
