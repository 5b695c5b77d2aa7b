// What all processors and a device behind one IOMMU share: the I/O page table, the IOTLB
// that the device's accesses are looked up in, and the queue of invalidations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace vringlab::sim {

// The invalidation queue of the IOMMU: it serves one request at a time, whoever asks.
struct InvalidationQueue {
  std::uint64_t free_ps = 0;

  // When a request of `at_ps` that takes `cost_ps` is done.
  std::uint64_t serve(std::uint64_t at_ps, std::uint64_t cost_ps) {
    free_ps = std::max(free_ps, at_ps) + cost_ps;
    return free_ps;
  }
};

// Pages are of 4 KiB, by number. The IOTLB is replaced first in, first out: a hit changes
// nothing, and a place that was invalidated is filled when its turn comes.
class IoDomain {
 public:
  static constexpr std::uint32_t kNowhere = UINT32_MAX;

  explicit IoDomain(std::uint32_t iotlb_entries) : iotlb_(iotlb_entries) {}

  // I/O pages side by side that were never used: the first. Page 0 is none of them.
  std::uint32_t grow(std::uint32_t count) {
    const auto first = static_cast<std::uint32_t>(pages_.size());
    pages_.resize(pages_.size() + count);
    return first;
  }

  // The page table.
  void enter(std::uint32_t io, std::uint32_t memory, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) pages_[io + i].memory = memory + i;
  }
  void remove(std::uint32_t io, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) pages_[io + i].memory = kNowhere;
  }

  struct Found {
    std::uint32_t memory;  // kNowhere: neither IOTLB nor page table has it
    bool missed;
  };
  // What the device does for a page that it accesses.
  Found look_up(std::uint64_t io) {
    if (io >= pages_.size()) return {kNowhere, true};
    Page& page = pages_[io];
    if (page.place != kNowhere) return {iotlb_[page.place].memory, false};
    if (page.memory != kNowhere) fill(static_cast<std::uint32_t>(io), page);
    return {page.memory, true};
  }

  // The IOTLB is told of a range, or of everything.
  void forget(std::uint32_t io, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) leave(pages_[io + i].place);
  }
  void forget_all() {
    for (std::uint32_t place = 0; place < iotlb_.size(); ++place) leave(place);
    ++flushes_;
  }
  std::uint64_t flushes() const { return flushes_; }

  InvalidationQueue invalidations;

 private:
  struct Page {
    std::uint32_t memory = kNowhere;  // where the table says it is
    std::uint32_t place = kNowhere;   // in the IOTLB
  };
  struct Entry {
    std::uint32_t io = kNowhere;  // kNowhere: holds nothing
    std::uint32_t memory = kNowhere;
  };

  void fill(std::uint32_t io, Page& page) {
    leave(next_);
    iotlb_[next_] = {io, page.memory};
    page.place = next_;
    next_ = next_ + 1 == iotlb_.size() ? 0 : next_ + 1;
  }
  void leave(std::uint32_t place) {
    if (place == kNowhere || iotlb_[place].io == kNowhere) return;
    pages_[iotlb_[place].io].place = kNowhere;
    iotlb_[place] = {};
  }

  std::vector<Page> pages_ = std::vector<Page>(1);  // by I/O page
  std::vector<Entry> iotlb_;
  std::uint32_t next_ = 0;     // the place that is filled next
  std::uint64_t flushes_ = 0;  // of everything
};

}  // namespace vringlab::sim
