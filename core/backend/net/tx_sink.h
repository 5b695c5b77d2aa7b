// Where a transmit path hands its frames, and where it gets buffers from.
#pragma once

#include <concepts>
#include <span>

#include "core/backend/net/xdp_buffer.h"

namespace vringlab {

// `allocate` returns null when no buffer is left; `release` takes back one that
// was not handed on.
template <class B>
concept FrameBuffers = requires(B b, std::uint32_t bytes, std::byte* buffer) {
  { b.allocate(bytes) } -> std::same_as<std::byte*>;
  b.release(buffer);
};

// Takes all frames of a batch, and with them their buffers; or, returning
// false, none.
template <class S>
concept TxSink = requires(S s, std::span<const XdpBuffer> batch) {
  { s.send(batch) } -> std::same_as<bool>;
};

}  // namespace vringlab
