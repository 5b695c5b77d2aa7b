// An IOMMU as the processors that map for it see it: I/O addresses, page-table entries,
// and an IOTLB that has to be told of every unmap, at once or later.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/machine/io_domain.h"

namespace vringlab::sim {

enum class IommuMode : std::uint8_t {
  kOff,          // devices see memory as it is; what is mapped is not even a call
  kPassthrough,  // there is one, and it maps nothing
  kLazy,         // unmapped at once, the IOTLB told of many together
  kStrict        // the IOTLB told of each before its memory is used again
};

struct IommuConfig {
  IommuMode mode = IommuMode::kOff;
  std::uint32_t flush_entries = 250;        // unmaps that a lazy flush waits for
  std::uint64_t flush_ps = 10'000'000'000;  // or time since the first of them
  std::uint32_t cached_pages = 32;          // I/O addresses of longer ranges are never cached
};

struct IommuCounters {
  std::uint64_t maps = 0;
  std::uint64_t unmaps = 0;
  std::uint64_t mapped_pages = 0;   // now
  std::uint64_t invalidations = 0;  // that were waited for
  std::uint64_t tree_searches = 0;  // I/O addresses that no cache had
};

// Where a range is in I/O addresses.
struct IoRange {
  std::uint32_t page = 0;  // the first
  bool cached = false;     // had without a search of the tree of all
};

// One processor's part: its cache of I/O addresses and, in lazy mode, what it has unmapped
// and not told the IOTLB.
class Iommu {
 public:
  Iommu(const IommuConfig& config, IoDomain& domain) : config_(config), domain_(&domain) {
    waiting_.reserve(config.flush_entries);
  }

  IommuMode mode() const { return config_.mode; }
  bool maps() const { return config_.mode >= IommuMode::kLazy; }
  const IommuCounters& counters() const { return counters_; }

  // So many pages of memory from `memory` on.
  IoRange map(std::uint32_t memory, std::uint32_t pages) {
    ++counters_.maps;
    counters_.mapped_pages += pages;
    const IoRange range = take(pages);
    counters_.tree_searches += range.cached ? 0 : 1;
    domain_->enter(range.page, memory, pages);
    return range;
  }

  // What was mapped there, at `now_ps`; true: the IOTLB has to be told now.
  bool unmap(std::uint32_t page, std::uint32_t pages, std::uint64_t now_ps) {
    ++counters_.unmaps;
    counters_.mapped_pages -= pages;
    domain_->remove(page, pages);
    if (waiting_.empty()) first_ps_ = now_ps;
    waiting_.push_back({page, pages});
    return config_.mode == IommuMode::kStrict || waiting_.size() >= config_.flush_entries ||
           now_ps >= first_ps_ + config_.flush_ps;
  }

  // The IOTLB is told at `now_ps`: when it is done. What waited for it may be used again.
  std::uint64_t invalidate(std::uint64_t now_ps, std::uint64_t cost_ps) {
    ++counters_.invalidations;
    if (config_.mode == IommuMode::kLazy) domain_->forget_all();
    for (const Unmapped& range : waiting_) {
      if (config_.mode == IommuMode::kStrict) domain_->forget(range.page, range.pages);
      free_[order(range.pages)].push_back(range.page);
    }
    waiting_.clear();
    return domain_->invalidations.serve(now_ps, cost_ps);
  }

 private:
  struct Unmapped {
    std::uint32_t page;
    std::uint32_t pages;
  };
  static constexpr std::size_t kOrders = 32;
  static std::size_t order(std::uint32_t pages) {
    return static_cast<std::size_t>(std::bit_width(pages - 1));
  }

  // The last one given back is taken first.
  IoRange take(std::uint32_t pages) {
    std::vector<std::uint32_t>& free = free_[order(pages)];
    if (free.empty()) return {domain_->grow(1u << order(pages)), false};
    const std::uint32_t page = free.back();
    free.pop_back();
    return {page, pages <= config_.cached_pages};
  }

  IommuConfig config_;
  IoDomain* domain_;
  IommuCounters counters_;
  std::array<std::vector<std::uint32_t>, kOrders> free_;  // addresses that can be had, by size
  std::vector<Unmapped> waiting_;                         // that can after the next invalidation
  std::uint64_t first_ps_ = 0;                            // when the first of them was unmapped
};

}  // namespace vringlab::sim
