// How long a receive buffer should be: the moving average of what packets took.
#pragma once

#include <algorithm>
#include <cstdint>

namespace vringlab {

// Exponentially weighted, in whole bytes: each value counts one part in kWeight.
class PacketLength {
 public:
  static constexpr std::uint32_t kWeight = 64;

  // The first value is the average at once.
  void add(std::uint32_t bytes) {
    average_ = average_ == 0 ? bytes : (average_ * (kWeight - 1) + bytes) / kWeight;
  }
  std::uint32_t average() const { return static_cast<std::uint32_t>(average_); }

 private:
  std::uint64_t average_ = 0;  // 64 bits: lengths come from the device
};

struct RxSizing {
  static constexpr std::uint32_t kAlignBytes = 64;  // a cache line

  std::uint32_t header_bytes = 12;  // of the virtio-net header, in front of each packet
  std::uint32_t min_bytes = 1514;   // of packet that a buffer takes at least
  std::uint32_t page_bytes = 4096;  // header and packet together at most; whole cache lines

  // Of a buffer that takes the header and a packet of `average` bytes, in whole cache lines.
  std::uint32_t buffer_bytes(std::uint32_t average) const {
    const std::uint32_t most = page_bytes - header_bytes;
    const std::uint32_t bytes = header_bytes + std::clamp(average, std::min(min_bytes, most), most);
    return (bytes + kAlignBytes - 1) / kAlignBytes * kAlignBytes;
  }
};

}  // namespace vringlab
