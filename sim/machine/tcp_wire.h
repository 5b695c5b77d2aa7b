// What a simulated TCP packet says of itself: its first eight bytes stand for the
// fields of its headers that the other end needs.
#pragma once

#include <cstdint>
#include <cstring>

namespace vringlab::sim {

inline constexpr std::uint32_t kTcpHeaders = 66;  // Ethernet, IPv4, TCP with timestamps
inline constexpr std::uint32_t kTcpMss = 1448;    // of an MTU of 1500
inline constexpr std::uint32_t kTcpMaxPayload = 65536 / kTcpMss * kTcpMss;  // whole segments

struct TcpWord {
  std::uint16_t session = 0;
  std::uint32_t bytes = 0;  // of payload, or acknowledged

  std::uint64_t packed() const { return std::uint64_t{session} << 32 | bytes; }
  static TcpWord from(const std::byte* frame) {
    std::uint64_t word = 0;
    std::memcpy(&word, frame, sizeof(word));
    return {static_cast<std::uint16_t>(word >> 32), static_cast<std::uint32_t>(word)};
  }
};

}  // namespace vringlab::sim
