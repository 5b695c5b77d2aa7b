// A descriptor chain as the device sees it after the walk: host pieces, the
// device-readable ones first.
#pragma once

#include <cstdint>
#include <span>

#include "core/memory/guest_memory.h"

namespace vringlab {

struct Chain {
  std::span<Piece> room;             // where pieces go; set up once, outlives the chain
  std::uint16_t head = 0;            // descriptor index to return in the used ring
  std::uint32_t readable_count = 0;  // pieces the device may read: room[0 .. readable_count)
  std::uint32_t piece_count = 0;     // all pieces
  std::uint32_t readable_bytes = 0;  // bytes the device may read
  std::uint32_t writable_bytes = 0;  // bytes the device may write
  std::uint16_t descriptors = 0;     // descriptors walked, indirect entries included
  std::uint16_t to_table = 0;        // of the ring, up to one that names a table; 0: none does

  std::span<const Piece> readable() const { return room.first(readable_count); }
  std::span<const Piece> writable() const {
    return room.subspan(readable_count, piece_count - readable_count);
  }
  // Descriptors of the ring that the chain has.
  std::uint16_t in_ring() const { return to_table != 0 ? to_table : descriptors; }
  void start(std::uint16_t new_head) {
    head = new_head;
    readable_count = piece_count = readable_bytes = writable_bytes = 0;
    descriptors = to_table = 0;
  }
};

// Pieces that a chain of a ring of `size` may fall into at the most, if each
// descriptor crosses at most one seam between regions.
constexpr std::size_t chain_room(std::size_t size, std::size_t regions) {
  return regions > 1 ? 2 * size : size;
}

}  // namespace vringlab
