// The driver-side double: guest memory and one ring whose every word can be
// written raw. Serves unit tests, hostile tests, benchmarks and fuzzers.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "core/memory/guest_memory.h"
#include "core/memory/ring_areas.h"
#include "core/spec/split.h"

namespace vringlab::test {

// `base` is a multiple of 16.
struct RegionSpec {
  std::uint64_t base = 0;
  std::size_t bytes = 0;
};

// Zeroed guest memory. Each region is an allocation of its own, so that regions
// adjacent in the guest are apart in the host and a sanitizer sees each overrun.
class RawGuest {
 public:
  explicit RawGuest(const std::vector<RegionSpec>& specs) : memory_(allocate(specs)) {}

  const GuestMemory& memory() const { return memory_; }
  std::size_t regions() const { return blocks_.size(); }

  bool holds(std::uint64_t addr) const { return memory_.contiguous({addr}, 1).ok(); }

  // A byte of guest memory; it is a fault of the test if there is none.
  std::byte& byte(std::uint64_t addr) {
    const auto host = memory_.contiguous({addr}, 1);
    if (!host.ok()) std::abort();
    return *host.value();
  }

  // Writes a wire struct at any address, across seams too.
  template <class T>
  void write(std::uint64_t addr, const T& value) {
    const std::span bytes = std::as_bytes(std::span(&value, 1));
    for (std::size_t i = 0; i < bytes.size(); ++i) byte(addr + i) = bytes[i];
  }

  // An indirect table.
  void write_table(std::uint64_t addr, std::span<const Desc> entries) {
    for (const Desc& entry : entries) {
      write(addr, entry);
      addr += sizeof(Desc);
    }
  }

  // Bytes that differ from their neighbours. All are even and none is zero, so that a
  // virtio-net header made of them asks for no checksum and is valid.
  static std::byte pattern(std::size_t i) { return std::byte(2 + 2 * (i % 127)); }
  void fill(std::uint64_t addr, std::size_t bytes, unsigned first = 1) {
    for (std::size_t i = 0; i < bytes; ++i) byte(addr + i) = pattern(first + i);
  }

 private:
  std::vector<Region> allocate(const std::vector<RegionSpec>& specs) {
    std::vector<Region> regions;
    for (const RegionSpec& spec : specs) {
      blocks_.push_back(std::make_unique<std::byte[]>(spec.bytes));
      regions.push_back({{spec.base}, {blocks_.back().get(), spec.bytes}});
    }
    return regions;
  }

  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  GuestMemory memory_;
};

// The three areas of a ring one behind the other from `base`, a multiple of 16.
inline QueueConfig packed_ring(std::uint32_t size, std::uint64_t features, std::uint64_t base = 0) {
  QueueConfig config{.size = size, .desc = {base}, .avail = {}, .used = {}, .features = features};
  config.avail.value = base + desc_bytes(size);
  const std::uint64_t end = config.avail.value + avail_bytes(size, true);
  config.used.value = (end + kUsedAlign - 1) / kUsedAlign * kUsedAlign;
  return config;
}

// One ring in a RawGuest.
struct RawRing {
  QueueConfig config;
  RingAreas areas;

  RawRing(const GuestMemory& memory, const QueueConfig& where) : config(where) {
    const auto mapped = map_ring_areas(memory, where);
    if (!mapped.ok()) std::abort();
    areas = mapped.value();
  }
  RawRing(const RawGuest& guest, const QueueConfig& where) : RawRing(guest.memory(), where) {}
  RawRing(const RawGuest& guest, std::uint32_t size, std::uint64_t features = 0)
      : RawRing(guest, packed_ring(size, features)) {}

  Desc& desc(std::size_t index) { return areas.desc[index]; }
  std::uint16_t& avail_flags() { return areas.avail[kRingFlagsWord]; }
  std::uint16_t& avail_idx() { return areas.avail[kRingIdxWord]; }
  std::uint16_t& avail(std::size_t slot) { return areas.avail[kAvailRingWord + slot]; }
  std::uint16_t& used_event() { return areas.avail[used_event_word(areas.size)]; }
  std::uint16_t& used_flags() { return areas.used[kRingFlagsWord]; }
  std::uint16_t& used_idx() { return areas.used[kRingIdxWord]; }
  UsedElem& used(std::size_t slot) { return areas.used_ring()[slot]; }
  std::uint16_t& avail_event() { return areas.used[avail_event_word(areas.size)]; }

  // What a driver does: the next avail entry, then the index.
  void offer(std::uint16_t head) {
    avail(avail_idx() & areas.mask()) = head;
    ++avail_idx();
  }
  // What a device does: the next used element, then the index.
  void complete(std::uint32_t id, std::uint32_t len) {
    used(used_idx() & areas.mask()) = {id, len};
    ++used_idx();
  }
};

inline constexpr std::uint64_t kEventIdx = feature(kFeatureRingEventIdx);
inline constexpr std::uint64_t kIndirect = feature(kFeatureRingIndirectDesc);

}  // namespace vringlab::test
