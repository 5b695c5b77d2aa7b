// Copies between host memory and the pieces of a chain, whatever the layout of its descriptors.
#pragma once

#include <algorithm>

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

// Copies `bytes` to `pieces` from `skip` bytes in; the pieces have room for them all.
template <PayloadAccess P>
inline void scatter(P& payload, Transfer what, std::span<const Piece> pieces, std::uint32_t skip,
                    const std::byte* source, std::uint32_t bytes) {
  for (const Piece& piece : pieces) {
    if (bytes == 0) return;
    if (skip >= piece.len) {
      skip -= piece.len;
      continue;
    }
    const std::uint32_t part = std::min(bytes, piece.len - skip);
    payload.copy_out(what, piece.host + skip, source, part);
    source += part;
    bytes -= part;
    skip = 0;
  }
}

}  // namespace vringlab
