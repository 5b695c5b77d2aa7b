// Copies a transmit chain into its XDP buffer: header apart from frame,
// whatever the layout of the descriptors.
#pragma once

#include <algorithm>

#include "core/backend/net/tx_parse.h"
#include "core/memory/access.h"

namespace vringlab {

// Copies `bytes` from `pieces` starting `skip` bytes in; the pieces hold them all.
template <PayloadAccess P>
inline void gather(P& payload, Transfer what, std::byte* host, std::uint32_t bytes,
                   std::span<const Piece> pieces, std::uint32_t skip) {
  for (const Piece& piece : pieces) {
    if (skip >= piece.len) {
      skip -= piece.len;
      continue;
    }
    const std::uint32_t part = std::min(bytes, piece.len - skip);
    payload.copy_in(what, host, piece.host + skip, part);
    host += part;
    bytes -= part;
    skip = 0;
    if (bytes == 0) return;
  }
}

template <PayloadAccess P>
inline void copy_frame(P& payload, const Chain& chain, const TxRequest& request,
                       const XdpBuffer& buffer) {
  // A header of ten bytes leaves num_buffers zero; one longer than twelve keeps its start.
  const std::uint32_t header = std::min<std::uint32_t>(request.header_bytes, sizeof(VirtioNetHdr));
  XdpMeta& meta = buffer.meta();
  meta = {.buffer_bytes = request.buffer_bytes, .header = {}};
  gather(payload, Transfer::kHeader, reinterpret_cast<std::byte*>(&meta.header), header,
         chain.readable(), 0);
  gather(payload, Transfer::kPayload, buffer.frame(), request.frame_bytes, chain.readable(),
         request.header_bytes);
}

}  // namespace vringlab
