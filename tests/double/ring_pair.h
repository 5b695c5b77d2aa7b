// Both halves of one queue on plain memory.
#pragma once

#include <array>

#include "core/driver/driver_ring.h"
#include "core/memory/direct_access.h"
#include "core/ring/device_ring.h"
#include "tests/double/raw_guest.h"

namespace vringlab::test {

struct RingPair {
  static constexpr std::uint64_t kData = 0x100000;  // where buffers may lie

  RawGuest guest{{{0, 0x200000}}};
  RawRing ring;
  DriverRing<DirectDriverAccess> driver;
  DeviceRing<DirectAccess, DirectPayload> device;

  explicit RingPair(std::uint32_t size, std::uint64_t features = 0)
      : ring(guest, size, features),
        driver(DirectDriverAccess(ring.areas), ring.config),
        device(DirectAccess(ring.areas), DirectPayload(guest.memory()), ring.config) {}
};

}  // namespace vringlab::test
