// Set-associative tags with least-recently-used replacement: which of many
// lines or pages a cache of a given size holds.
#pragma once

#include <bit>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace vringlab::sim {

template <std::uint32_t Ways>
class Tags {
 public:
  // `entries` is a multiple of Ways whose quotient is a power of two.
  explicit Tags(std::uint32_t entries) : mask_(entries / Ways - 1), tags_(entries, kNone) {
    if (entries % Ways != 0 || !std::has_single_bit(entries / Ways))
      throw std::logic_error("tags: number of sets is not a power of two");
  }

  // Is `id` held? It is the most recent of its set afterwards, either way.
  bool touch(std::uint32_t id) {
    std::uint32_t* set = &tags_[std::size_t{id & mask_} * Ways];
    if (set[0] == id) return true;
    return touch_older(set, id);
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // Moves `id` to the front of its set, from where it was or in place of the oldest.
  static bool touch_older(std::uint32_t* set, std::uint32_t id) {
    std::uint32_t previous = set[0];
    for (std::uint32_t way = 1; way < Ways; ++way) {
      const std::uint32_t here = set[way];
      set[way] = previous;
      if (here == id) {
        set[0] = id;
        return true;
      }
      previous = here;
    }
    set[0] = id;
    return false;
  }

  std::uint32_t mask_;
  std::vector<std::uint32_t> tags_;  // each set's ways from the most to the least recent
};

// Entries for `bytes` of 64-byte lines, rounded down to a power of two sets.
template <std::uint32_t Ways>
constexpr std::uint32_t line_entries(std::uint32_t bytes) {
  return std::bit_floor(bytes / 64 / Ways) * Ways;
}

}  // namespace vringlab::sim
