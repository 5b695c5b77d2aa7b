// A guest buffer as the driver hands it over.
#pragma once

#include <cstdint>

#include "core/memory/guest_memory.h"

namespace vringlab {

struct Buffer {
  GuestAddr addr;         // of a premapped queue: as the device sees it
  std::uint32_t len = 0;  // bytes
};

}  // namespace vringlab
