// Wire layout of the virtio network header (VIRTIO 1.2, 5.1.6).
#pragma once

#include <cstddef>
#include <cstdint>

namespace vringlab {

struct VirtioNetHdr {
  std::uint8_t flags = 0;         // kNetHdrNeedsCsum
  std::uint8_t gso_type = 0;      // 0: no segmentation
  std::uint16_t hdr_len = 0;      // bytes of headers to copy with each segment
  std::uint16_t gso_size = 0;     // bytes of payload in each segment
  std::uint16_t csum_start = 0;   // offset where checksumming starts
  std::uint16_t csum_offset = 0;  // offset of the checksum after csum_start
  std::uint16_t num_buffers = 0;  // merged receive buffers; present with MRG_RXBUF or VERSION_1
};
static_assert(sizeof(VirtioNetHdr) == 12 && offsetof(VirtioNetHdr, num_buffers) == 10);

inline constexpr std::uint8_t kNetHdrNeedsCsum = 1;
inline constexpr std::uint8_t kNetHdrGsoTcp4 = 1;
inline constexpr std::uint32_t kEthernetHeaderBytes = 14;
// The longest frame: a segmentation offload of 64 KiB behind an Ethernet header.
inline constexpr std::uint32_t kMaxFrameBytes = 65535 + kEthernetHeaderBytes;

}  // namespace vringlab
