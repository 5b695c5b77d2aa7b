// An IOMMU as the processors that map for it see it: I/O addresses, page-table entries,
// and an IOTLB that has to be told of every unmap, at once or later.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>

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

// The invalidation queue of the IOMMU: it serves one request at a time, whoever asks.
struct InvalidationQueue {
  std::uint64_t free_ps = 0;

  // When a request of `at_ps` that takes `cost_ps` is done.
  std::uint64_t serve(std::uint64_t at_ps, std::uint64_t cost_ps) {
    free_ps = std::max(free_ps, at_ps) + cost_ps;
    return free_ps;
  }
};

// One processor's part: its cache of I/O addresses and, in lazy mode, what it has unmapped
// and not told the IOTLB.
class Iommu {
 public:
  Iommu(const IommuConfig& config, InvalidationQueue& queue) : config_(config), queue_(&queue) {}

  IommuMode mode() const { return config_.mode; }
  bool maps() const { return config_.mode >= IommuMode::kLazy; }
  const IommuCounters& counters() const { return counters_; }

  // An I/O address for so many pages; false: the tree of all had to be searched.
  bool take_address(std::uint32_t pages) {
    ++counters_.maps;
    counters_.mapped_pages += pages;
    if (pages <= config_.cached_pages && free_[order(pages)] > 0) {
      --free_[order(pages)];
      return true;
    }
    ++counters_.tree_searches;
    return false;
  }

  // A range was unmapped at `now_ps`; true: the IOTLB has to be told now.
  bool give_address(std::uint32_t pages, std::uint64_t now_ps) {
    ++counters_.unmaps;
    counters_.mapped_pages -= pages;
    if (config_.mode == IommuMode::kStrict) {
      keep(pages);
      return true;
    }
    if (pending_ == 0) first_ps_ = now_ps;
    ++pending_;
    ++waiting_[order(std::min(pages, 2 * config_.cached_pages))];
    return pending_ >= config_.flush_entries || now_ps >= first_ps_ + config_.flush_ps;
  }

  // The IOTLB is told at `now_ps`: when it is done. What waited for it may be used again.
  std::uint64_t invalidate(std::uint64_t now_ps, std::uint64_t cost_ps) {
    ++counters_.invalidations;
    pending_ = 0;
    for (std::size_t i = 0; i < free_.size(); ++i) free_[i] += std::exchange(waiting_[i], 0u);
    return queue_->serve(now_ps, cost_ps);
  }

 private:
  static constexpr std::size_t kOrders = 32;
  static std::size_t order(std::uint32_t pages) {
    return static_cast<std::size_t>(std::bit_width(pages - 1));
  }
  void keep(std::uint32_t pages) {
    if (pages <= config_.cached_pages) ++free_[order(pages)];
  }

  IommuConfig config_;
  InvalidationQueue* queue_;
  IommuCounters counters_;
  std::array<std::uint32_t, kOrders> free_{};     // addresses that can be had at once, by size
  std::array<std::uint32_t, kOrders> waiting_{};  // that can after the next flush
  std::uint32_t pending_ = 0;                     // unmaps that the IOTLB was not told of
  std::uint64_t first_ps_ = 0;                    // when the first of them was
};

}  // namespace vringlab::sim
