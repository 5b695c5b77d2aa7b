// Copies a transmit chain into its XDP buffer: header apart from frame,
// whatever the layout of the descriptors.
#pragma once

#include <algorithm>

#include "core/backend/net/tx_header.h"
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

// Copies the header into `header` and checks it. The frame is not touched yet.
template <PayloadAccess P>
inline RingError copy_header(P& payload, const Chain& chain, const TxRequest& request,
                             VirtioNetHdr& header) {
  // A header of ten bytes leaves num_buffers zero; one longer than twelve keeps its start.
  const std::uint32_t bytes = std::min<std::uint32_t>(request.header_bytes, sizeof(VirtioNetHdr));
  header = {};
  gather(payload, Transfer::kHeader, reinterpret_cast<std::byte*>(&header), bytes, chain.readable(),
         0);
  return check_tx_header(header, request.frame_bytes);
}

// Copies header and frame into an XDP buffer. On an error the buffer must not be sent.
template <PayloadAccess P>
inline RingError copy_frame(P& payload, const Chain& chain, const TxRequest& request,
                            const XdpBuffer& buffer) {
  XdpMeta& meta = buffer.meta();
  meta.buffer_bytes = request.buffer_bytes;
  const RingError error = copy_header(payload, chain, request, meta.header);
  if (error == RingError::kNone)
    gather(payload, Transfer::kPayload, buffer.frame(), request.frame_bytes, chain.readable(),
           request.header_bytes);
  return error;
}

}  // namespace vringlab
