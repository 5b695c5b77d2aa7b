// What the loops of all devices share: how a turn ends, what limits a run, and
// whom they tell.
#pragma once

#include <cstdint>

namespace vringlab {

// Limits of one run of the loop, after which others get their turn.
struct Weight {
  std::uint32_t packets = 256;
  std::uint32_t bytes = 0x80000;
};

enum class Turn : std::uint8_t {
  kPacket,     // took one packet; there may be more
  kEmpty,      // no packet is there; all that was taken has been sent and published
  kNoBuffers,  // the packet at hand needs more buffers; all that was used has been published
  kYield,      // the weight is used up; all that was taken has been sent and published
  kBroken      // the queue broke in this turn
};

// Tells the driver that used elements are there.
template <class C>
concept Caller = requires(C c) {
  c.call();
};

}  // namespace vringlab
