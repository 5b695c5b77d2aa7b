// Layout of what an AF_XDP socket shares with its application (Linux's if_xdp.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace vringlab {

// Entry of the rx and tx rings. Those of fill and completion are addresses alone.
struct XdpDesc {
  std::uint64_t addr = 0;     // offset into the umem
  std::uint32_t len = 0;      // bytes
  std::uint32_t options = 0;  // none of them are known here
  bool operator==(const XdpDesc&) const = default;
};
static_assert(sizeof(XdpDesc) == 16 && offsetof(XdpDesc, len) == 8 &&
              offsetof(XdpDesc, options) == 12);

inline constexpr std::uint32_t kXdpPacketHeadroom = 256;  // bytes in front of a received frame

}  // namespace vringlab
