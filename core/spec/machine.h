// What the processors that this is for have in common.
#pragma once

#include <cstdint>

namespace vringlab {

inline constexpr std::uint32_t kCacheLineBytes = 64;

}  // namespace vringlab
