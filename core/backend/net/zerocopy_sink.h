// Where a zero-copy transmit path hands its frames.
#pragma once

#include "core/backend/net/tx_sink.h"

namespace vringlab {

// `send_alone` as in TxSink. `send_borrowed` may keep the pieces of the frame until it
// completes `slot` on the loop, in any order, even before it returns; the header has been
// copied and checked. kNone: taken; kNoBuffer: to be tried again later; another error: it
// can't be sent. On an error the sink keeps nothing and completes nothing. The list of
// pieces itself is good during the call only. The guest may write to the pieces at any
// time: what was checked in them must not be relied on.
template <class S, class P>
concept ZeroCopySink = requires(S s, P& payload, LoneFrame frame, const VirtioNetHdr& header,
                                std::uint16_t slot) {
  { s.send_alone(payload, frame) } -> std::same_as<RingError>;
  { s.send_borrowed(payload, frame, header, slot) } -> std::same_as<RingError>;
};

// Writes the pieces of the frame to `out`, the header left out, and returns their number.
// `out` has room for as many as the chain has.
inline std::size_t frame_pieces(const LoneFrame& lone, std::span<Piece> out) {
  std::size_t count = 0;
  std::uint32_t skip = lone.request.header_bytes;
  for (const Piece& piece : lone.chain.readable()) {
    if (skip >= piece.len) {
      skip -= piece.len;
      continue;
    }
    out[count++] = {piece.host + skip, piece.len - skip};
    skip = 0;
  }
  return count;
}

}  // namespace vringlab
