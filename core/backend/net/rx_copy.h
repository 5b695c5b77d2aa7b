// Copies a packet into the writable pieces of its chains: header, then frame,
// whatever the layout of the descriptors.
#pragma once

#include <algorithm>

#include "core/backend/net/rx_source.h"
#include "core/backend/pieces.h"

namespace vringlab {

// `pieces`: those of all chains of the packet, in order. `header_bytes` is at
// most twelve; a header of ten has no num_buffers. A socket knows nothing of
// merging: where that is on, num_buffers is a copy of its own, made when header and
// frame are there.
template <PayloadAccess P>
inline void copy_packet(P& payload, std::span<const Piece> pieces, const RxFrame& packet,
                        std::uint32_t header_bytes, std::uint16_t num_buffers, bool mergeable) {
  constexpr std::uint32_t kOffset = offsetof(VirtioNetHdr, num_buffers);
  VirtioNetHdr header = packet.header;
  header.num_buffers = num_buffers;
  const auto* bytes = reinterpret_cast<const std::byte*>(&header);
  scatter(payload, Transfer::kHeader, pieces, 0, bytes,
          mergeable ? std::min(kOffset, header_bytes) : header_bytes);
  scatter(payload, Transfer::kPayload, pieces, header_bytes, packet.frame, packet.bytes);
  if (mergeable && header_bytes > kOffset)
    scatter(payload, Transfer::kHeader, pieces, kOffset, bytes + kOffset, header_bytes - kOffset);
}

}  // namespace vringlab
