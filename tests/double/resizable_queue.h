// A queue that can be reset and resized: ring memory from two alternating halves
// of guest memory, and a device behind DMA addresses that takes what is available
// and completes it in any order, or stops.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/driver/queue_reset.h"
#include "core/memory/direct_access.h"
#include "tests/double/counting_dma.h"
#include "tests/double/raw_guest.h"

namespace vringlab::test {

inline constexpr std::uint64_t kPlatform = feature(kFeatureAccessPlatform);
inline constexpr std::uint64_t kRingReset = feature(kFeatureRingReset);

// Rings of up to 256 entries with tables of four, two at a time.
class TwoRings {
 public:
  using Place = RingPlace<DirectDriverAccess>;
  static constexpr std::uint16_t kTableEntries = 4;
  static constexpr std::uint64_t kHalf = 0x10000;
  static constexpr std::uint64_t kTables = 0x8000;  // within a half

  TwoRings(RawGuest& guest, std::uint64_t features) : guest_(&guest), features_(features) {}

  std::optional<Place> allocate(std::uint32_t size) {
    if (fails) return std::nullopt;
    const std::size_t half = taken_[0] ? 1 : 0;
    if (taken_[half]) return std::nullopt;
    taken_[half] = true;
    const std::uint64_t base = half * kHalf;
    const QueueConfig config = packed_ring(size, features_, base);
    const auto areas = map_ring_areas(guest_->memory(), config);
    if (!areas.ok()) return std::nullopt;
    return Place{config, DirectDriverAccess(areas.value()), tables(base + kTables)};
  }
  void release(const QueueConfig& config) { taken_[config.desc.value / kHalf] = false; }
  int taken() const { return taken_[0] + taken_[1]; }

  bool fails = false;  // the next allocations

 private:
  IndirectTables tables(std::uint64_t base) {
    return {{base}, reinterpret_cast<Desc*>(&guest_->byte(base)), kTableEntries};
  }

  RawGuest* guest_;
  std::uint64_t features_;
  std::array<bool, 2> taken_{};
};

// Takes chains in order and holds their heads until told to complete one.
class HoldingDevice {
 public:
  HoldingDevice(RawGuest& guest, const QueueConfig& config) : guest_(&guest) {
    enable_queue(config);
  }

  bool reset_queue() {
    if (refuses) return false;
    ring_.reset();
    held_.clear();
    ++resets;
    return true;
  }
  void enable_queue(const QueueConfig& config) {
    ring_.emplace(*guest_, config);
    next_ = 0;
    ++enables;
  }

  void fetch() {
    if (!ring_) return;
    for (; next_ != ring_->avail_idx(); ++next_)
      held_.push_back(ring_->avail(next_ & ring_->areas.mask()));
  }
  std::size_t held() const { return held_.size(); }
  // The `which`-th of those held.
  void complete(std::size_t which, std::uint32_t len) {
    const auto at = held_.begin() + static_cast<std::ptrdiff_t>(which % held_.size());
    ring_->complete(*at, len);
    held_.erase(at);
  }
  std::optional<RawRing>& ring() { return ring_; }

  bool refuses = false;  // a reset
  int resets = 0;
  int enables = 0;

 private:
  RawGuest* guest_;
  std::optional<RawRing> ring_;  // none while reset
  std::uint16_t next_ = 0;       // avail entry
  std::vector<std::uint16_t> held_;
};

struct ResizableQueue {
  CountingDma dma;
  RawGuest guest{{{0, 2 * TwoRings::kHalf}}};
  TwoRings memory;
  DriverRing<DirectDriverAccess, CountingDma> driver;
  HoldingDevice device;

  explicit ResizableQueue(std::uint32_t size, std::uint64_t features = kPlatform | kRingReset)
      : memory(guest, features),
        driver(make(*memory.allocate(size))),
        device(guest, driver.config()) {}

 private:
  DriverRing<DirectDriverAccess, CountingDma> make(const TwoRings::Place& place) {
    return {place.access, place.config, place.tables, &dma};
  }
};

}  // namespace vringlab::test
