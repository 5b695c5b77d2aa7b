// What a transmit chain says, before anything is done about it.
#pragma once

#include "core/backend/net/xdp_buffer.h"
#include "core/ring/chain.h"

namespace vringlab {

struct TxRequest {
  std::uint32_t header_bytes = 0;
  std::uint32_t frame_bytes = 0;
  std::uint32_t buffer_bytes = 0;  // XDP buffer to allocate; 0: none is large enough
};

// 5.1.6.2: a transmit chain is readable only, the header first. A frame shorter
// than an Ethernet header is refused. One whose XDP buffer would leave its page
// has to be sent alone.
inline Result<TxRequest> parse_tx(const Chain& chain, std::uint32_t header_bytes, bool headroom) {
  if (chain.writable_bytes != 0) return RingError::kUnexpectedWritable;
  if (chain.readable_bytes < header_bytes) return RingError::kHeaderTooShort;
  const std::uint32_t frame = chain.readable_bytes - header_bytes;
  if (frame < kEthernetHeaderBytes) return RingError::kFrameTooShort;
  if (frame > kMaxFrameBytes) return RingError::kFrameTooLong;
  const std::uint32_t buffer = xdp_buffer_bytes(frame, headroom);
  return TxRequest{header_bytes, frame, buffer <= kXdpBufferMaxBytes ? buffer : 0};
}

}  // namespace vringlab
