// The virtio-net header of a transmitted frame: what it may ask for.
#pragma once

#include "core/spec/error.h"
#include "core/spec/net.h"

namespace vringlab {

// 5.1.6.2: a checksum lies inside the frame, and the headers reach at least to its
// end: `header.hdr_len` is raised where the driver set it lower. Segments have bytes.
inline RingError check_tx_header(VirtioNetHdr& header, std::uint32_t frame_bytes) {
  if (header.gso_type != 0 && header.gso_size == 0) return RingError::kSegmentSize;
  if ((header.flags & kNetHdrNeedsCsum) == 0) return RingError::kNone;
  constexpr std::uint32_t kChecksumBytes = 2;
  const std::uint32_t end = std::uint32_t{header.csum_start} + header.csum_offset + kChecksumBytes;
  if (end <= header.hdr_len) return RingError::kNone;
  if (end > frame_bytes || end > UINT16_MAX) return RingError::kChecksumRange;
  header.hdr_len = static_cast<std::uint16_t>(end);
  return RingError::kNone;
}

}  // namespace vringlab
