// What a block device does with guest memory besides the data: the header and the segments that it
// copies in, the name and the status that it writes.
#pragma once

#include "core/backend/blk/request.h"
#include "core/backend/pieces.h"

namespace vringlab {

// The chain has a whole header.
template <PayloadAccess P>
inline VirtioBlkReqHdr copy_blk_header(P& payload, const Chain& chain) {
  VirtioBlkReqHdr header;
  auto* host = reinterpret_cast<std::byte*>(&header);
  // Nearly always a descriptor of its own: the length known here, so that its copy is two moves.
  if (chain.room[0].len >= sizeof(header)) {
    payload.copy_in(Transfer::kHeader, host, chain.room[0].host, sizeof(header));
  } else {
    gather(payload, Transfer::kHeader, host, sizeof(header), chain.readable(), 0);
  }
  return header;
}

// Copies each segment once and checks it, all of them before anything is done. `ranges` has room
// for max_segments. Returns the number of ranges, or in `status` why there are none.
template <PayloadAccess P>
inline std::size_t copy_ranges(P& payload, std::span<const Piece> pieces, const BlkRequest& request,
                               const BlkDisk& disk, std::span<BlkRange> ranges, BlkStatus& status) {
  std::size_t count = 0;
  for (std::uint32_t at = 0; at < request.bytes; at += sizeof(VirtioBlkSegment)) {
    VirtioBlkSegment segment;
    gather(payload, Transfer::kPayload, reinterpret_cast<std::byte*>(&segment), sizeof(segment),
           pieces, at);
    status = parse_segment(segment, request.op, disk, ranges[count++]);
    if (status != BlkStatus::kOk) return 0;
  }
  return count;
}

// As much of the name as the driver has room for.
template <PayloadAccess P>
inline void write_identity(P& payload, std::span<const Piece> pieces, const BlkRequest& request,
                           const BlkDisk& disk) {
  scatter(payload, Transfer::kPayload, pieces, 0, reinterpret_cast<const std::byte*>(&disk.id),
          request.bytes);
}

// 5.2.6: the last of a request that the device writes. Transfer::kHeader, as it frames the data.
template <PayloadAccess P>
inline void write_status(P& payload, std::byte* place, BlkStatus status) {
  const auto value = static_cast<std::byte>(status);
  payload.copy_out(Transfer::kHeader, place, &value, sizeof(value));
}

}  // namespace vringlab
