// A set-associative cache that really keeps its items: what FifoTags stand for.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace vringlab::test {

class FifoCache {
 public:
  FifoCache(std::uint32_t sets, std::uint32_t ways)
      : sets_(std::bit_floor(sets), Set{std::vector<std::optional<std::uint32_t>>(ways), 0}) {}

  bool holds(std::uint32_t item) const {
    for (const auto& way : set(item).ways) {
      if (way == item) return true;
    }
    return false;
  }
  // Takes the next way in turn, empty or not; a copy that was there already is
  // the old one, and gone.
  void fill(std::uint32_t item) {
    invalidate(item);
    Set& s = sets_[item % sets_.size()];
    s.ways[s.next] = item;
    s.next = (s.next + 1) % s.ways.size();
  }
  void invalidate(std::uint32_t item) {
    for (auto& way : sets_[item % sets_.size()].ways) {
      if (way == item) way.reset();
    }
  }

 private:
  struct Set {
    std::vector<std::optional<std::uint32_t>> ways;
    std::size_t next;  // the way that the next fill takes
  };
  const Set& set(std::uint32_t item) const { return sets_[item % sets_.size()]; }

  std::vector<Set> sets_;
};

}  // namespace vringlab::test
