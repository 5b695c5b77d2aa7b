// Copies a transmit chain into its XDP buffer: header apart from frame,
// whatever the layout of the descriptors.
#pragma once

#include <algorithm>

#include "core/backend/net/tx_header.h"
#include "core/backend/net/tx_parse.h"
#include "core/backend/pieces.h"

namespace vringlab {

// Copies the header alone into `header` and checks it. A header of ten bytes leaves
// num_buffers as it is, which is zero; one longer than twelve keeps its start.
template <PayloadAccess P>
inline RingError copy_header(P& payload, const Chain& chain, const TxRequest& request,
                             VirtioNetHdr& header) {
  auto* host = reinterpret_cast<std::byte*>(&header);
  const std::uint32_t bytes = std::min<std::uint32_t>(request.header_bytes, sizeof(VirtioNetHdr));
  gather(payload, Transfer::kHeader, host, bytes, chain.readable(), 0);
  return check_tx_header(header, request.frame_bytes);
}

// Whatever the layout of the descriptors.
template <PayloadAccess P>
[[gnu::noinline]] RingError copy_pieces(P& payload, const Chain& chain, const TxRequest& request,
                                        const XdpBuffer& buffer) {
  const RingError error = copy_header(payload, chain, request, buffer.meta().header);
  if (error == RingError::kNone)
    gather(payload, Transfer::kPayload, buffer.frame(), request.frame_bytes, chain.readable(),
           request.header_bytes);
  return error;
}

// Copies header and frame into an XDP buffer and checks the header before the frame
// is touched. On an error the buffer must not be sent.
template <PayloadAccess P>
inline RingError copy_frame(P& payload, const Chain& chain, const TxRequest& request,
                            const XdpBuffer& buffer) {
  buffer.meta() = {.buffer_bytes = request.buffer_bytes, .header = {}};
  // Nearly every chain is one piece with a header of twelve bytes: known here, so
  // that its copy is a few moves.
  if (chain.readable_count != 1 || request.header_bytes != sizeof(VirtioNetHdr))
    return copy_pieces(payload, chain, request, buffer);
  const std::byte* source = chain.room[0].host;
  payload.copy_in(Transfer::kHeader, buffer.header(), source, sizeof(VirtioNetHdr));
  const RingError error = check_tx_header(buffer.meta().header, request.frame_bytes);
  if (error == RingError::kNone)
    payload.copy_in(Transfer::kPayload, buffer.frame(), source + sizeof(VirtioNetHdr),
                    request.frame_bytes);
  return error;
}

}  // namespace vringlab
