// Where a transmit path hands its frames, and where it gets buffers from.
#pragma once

#include <concepts>
#include <span>

#include "core/backend/net/tx_parse.h"
#include "core/backend/net/xdp_buffer.h"
#include "core/memory/access.h"

namespace vringlab {

// `allocate` returns null when no buffer is left; `release` takes back one that
// was not handed on.
template <class B>
concept FrameBuffers = requires(B b, std::uint32_t bytes, std::byte* buffer) {
  { b.allocate(bytes) } -> std::same_as<std::byte*>;
  b.release(buffer);
};

// A frame that is sent by a call of its own, still in guest memory.
struct LoneFrame {
  const Chain& chain;
  TxRequest request;
  bool more = false;  // another frame follows at once
};

// `send` takes all frames of a batch, and with them their buffers; or, returning
// false, none. `send_alone` copies one frame from the guest by itself: kNoBuffer if
// it should be tried again later, another error if it can't be sent.
template <class S, class P>
concept TxSink = requires(S s, P& payload, std::span<const XdpBuffer> batch, LoneFrame frame) {
  { s.send(batch) } -> std::same_as<bool>;
  { s.send_alone(payload, frame) } -> std::same_as<RingError>;
};

}  // namespace vringlab
