// The chain walk: from a head to host pieces, trusting nothing the guest wrote.
// Each descriptor is read once, whole. Bounded by the number of entries of the
// table being walked, so that loops end whatever their lengths say.
#pragma once

#include <algorithm>

#include "core/memory/access.h"
#include "core/ring/chain.h"

namespace vringlab {

// Adds one descriptor's buffer to the chain. 2.7.4.2: readable before writable.
// Inlined by force: it has two callers, and a call here costs as much as its work.
template <PayloadAccess P>
[[gnu::always_inline]] inline RingError append_buffer(P& payload, const Desc& desc, Chain& chain) {
  const bool writable = (desc.flags & kDescWrite) != 0;
  if (!writable && chain.piece_count > chain.readable_count)
    return RingError::kReadableAfterWritable;
  // 2.7.5.2: the whole chain is below 2^32 bytes; so neither sum can wrap.
  if (desc.len > UINT32_MAX - (chain.readable_bytes + chain.writable_bytes))
    return RingError::kChainBytesOverflow;
  const auto pieces =
      payload.translate(GuestAddr{desc.addr}, desc.len, chain.room.subspan(chain.piece_count));
  if (!pieces.ok()) return pieces.error();
  const auto added = static_cast<std::uint32_t>(pieces.value());
  chain.piece_count += added;
  ++chain.descriptors;
  if (writable) {
    chain.writable_bytes += desc.len;
  } else {
    chain.readable_count += added;
    chain.readable_bytes += desc.len;
  }
  return RingError::kNone;
}

// One entry of an indirect table, which may lie anywhere (2.7.5.3 sets no
// alignment) and across the seam of two regions.
template <PayloadAccess P>
inline RingError read_indirect(P& payload, GuestAddr entry, Desc& desc) {
  Piece pieces[sizeof(Desc)];
  const auto count = payload.translate(entry, sizeof(Desc), pieces);
  if (!count.ok()) return count.error();
  auto* out = reinterpret_cast<std::byte*>(&desc);
  for (std::size_t i = 0; i < count.value(); ++i) {
    payload.copy_in(Transfer::kIndirect, out, pieces[i].host, pieces[i].len);
    out += pieces[i].len;
  }
  return RingError::kNone;
}

// Walks the table that `table` points at. 2.7.5.3.1: no INDIRECT inside, and no
// chain longer than the ring, the descriptors before the table included.
template <PayloadAccess P>
inline RingError walk_indirect(P& payload, const Desc& table, std::uint16_t ring_size,
                               Chain& chain) {
  if (table.len == 0 || table.len % sizeof(Desc) != 0) return RingError::kIndirectLength;
  const auto entries = static_cast<std::uint32_t>(table.len / sizeof(Desc));
  if (entries > ring_size) return RingError::kIndirectTooLong;
  if (table.len > UINT64_MAX - table.addr) return RingError::kAddressOverflow;
  const auto room = static_cast<std::uint32_t>(ring_size - chain.descriptors);
  std::uint32_t index = 0;
  for (std::uint32_t seen = 0; seen < std::min(entries, room); ++seen) {
    Desc desc;
    RingError error = read_indirect(payload, GuestAddr{table.addr + index * sizeof(Desc)}, desc);
    if (error != RingError::kNone) return error;
    if ((desc.flags & kDescIndirect) != 0) return RingError::kIndirectNested;
    error = append_buffer(payload, desc, chain);
    if (error != RingError::kNone) return error;
    if ((desc.flags & kDescNext) == 0) return RingError::kNone;
    if (desc.next >= entries) return RingError::kNextOutOfRange;
    index = desc.next;
  }
  return RingError::kChainTooLong;
}

// Walks the chain at `chain.head`, which is below `ring_size`, into
// `chain.room`. On an error the chain's pieces must not be used.
template <RingAccess A, PayloadAccess P>
inline RingError walk_chain(A& access, P& payload, std::uint16_t ring_size, bool indirect,
                            Chain& chain) {
  std::uint16_t index = chain.head;
  for (std::uint32_t seen = 0; seen < ring_size; ++seen) {
    const Desc desc = access.get_descriptor(index);
    if ((desc.flags & kDescIndirect) != 0) {
      if (!indirect) return RingError::kIndirectNotNegotiated;
      if ((desc.flags & kDescNext) != 0) return RingError::kIndirectWithNext;
      chain.to_table = static_cast<std::uint16_t>(chain.descriptors + 1);
      return walk_indirect(payload, desc, ring_size, chain);
    }
    const RingError error = append_buffer(payload, desc, chain);
    if (error != RingError::kNone) return error;
    if ((desc.flags & kDescNext) == 0) return RingError::kNone;
    if (desc.next >= ring_size) return RingError::kNextOutOfRange;
    index = desc.next;
  }
  return RingError::kChainTooLong;
}

}  // namespace vringlab
