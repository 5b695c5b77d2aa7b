// Latency of packets from the guest's add to the sink, in memory that doesn't
// grow with their number.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace vringlab::sim {

// Counts by value: 32 buckets an octave, so a bucket is at most 1/32 wide.
class Histogram {
 public:
  void add(std::uint64_t value) {
    ++counts_[bucket(value)];
    ++total_;
    sum_ += value;
    if (value > max_) max_ = value;
  }
  // The values of another one as well.
  void add(const Histogram& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    total_ += other.total_;
    sum_ += other.sum_;
    max_ = std::max(max_, other.max_);
  }
  std::uint64_t total() const { return total_; }
  std::uint64_t sum() const { return sum_; }
  std::uint64_t max() const { return max_; }

  // Lower edge of the bucket that holds the value of rank ceil(total * ppm / 1e6).
  std::uint64_t quantile_ppm(std::uint64_t ppm) const {
    const std::uint64_t rank = (total_ * ppm + 999999) / 1000000;
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen >= rank && seen > 0) return lower_edge(i);
    }
    return 0;
  }

 private:
  static constexpr unsigned kSubBits = 5;
  static constexpr std::uint64_t kSub = 1u << kSubBits;

  static std::size_t bucket(std::uint64_t v) {
    if (v < kSub) return v;
    const auto octave = static_cast<unsigned>(std::bit_width(v)) - 1 - kSubBits;
    return (std::size_t{octave} + 1) * kSub + ((v >> octave) & (kSub - 1));
  }
  static std::uint64_t lower_edge(std::size_t i) {
    if (i < kSub) return i;
    return (kSub + i % kSub) << (i / kSub - 1);
  }

  std::array<std::uint64_t, 60 * kSub> counts_{};
  std::uint64_t total_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t max_ = 0;
};

// Packets leave in the order in which they came: a ring of start times.
class LatencyLog {
 public:
  // `capacity` is a power of two, at least the packets under way.
  explicit LatencyLog(std::size_t capacity) : mask_(capacity - 1), started_(capacity) {}

  void start(std::uint64_t at_ps) { started_[head_++ & mask_] = at_ps; }
  void finish(std::uint64_t at_ps) {
    const std::uint64_t began = started_[tail_++ & mask_];
    histogram_.add(at_ps > began ? at_ps - began : 0);
  }
  const Histogram& histogram() const { return histogram_; }

 private:
  std::size_t mask_;
  std::vector<std::uint64_t> started_;
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
  Histogram histogram_;
};

}  // namespace vringlab::sim
