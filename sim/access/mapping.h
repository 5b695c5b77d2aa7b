// The kernel's direct mapping of ring metadata: which pages it pins, what setting
// it up and tearing it down costs, and when it may be used. A mapping belongs to
// one ring at one place: a change of size, address or translation ends it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/memory/ring_areas.h"
#include "sim/access/operations.h"
#include "sim/access/plan.h"
#include "sim/machine/core.h"

namespace vringlab::sim {

inline constexpr std::uint64_t kPageBytes = 4096;  // a mapping is made of base pages

// Pages that [addr, addr + bytes) touches; the offset in the first page counts.
constexpr std::uint64_t page_span(std::uint64_t addr, std::uint64_t bytes) {
  return bytes == 0 ? 0 : (addr % kPageBytes + bytes - 1) / kPageBytes + 1;
}

// What the memory manager knows of the guest's pages.
class GuestPages {
 public:
  explicit GuestPages(std::uint64_t guest_bytes) : pages_(page_span(0, guest_bytes)) {}

  // Pins one page; false: the page can't be had (it doesn't exist, or the
  // failure asked for by fail_after is due).
  bool pin(std::uint64_t page);
  // `dirty`: it was written through the mapping, so write-back must know.
  void unpin(std::uint64_t page, bool dirty);
  // The pin after `pins` more fails, once.
  void fail_after(std::uint64_t pins) { fail_in_ = pins; }

  std::uint64_t pinned_pages() const;
  bool dirty(std::uint64_t page) const { return pages_.at(page).dirty; }

 private:
  struct Page {
    std::uint32_t pins = 0;
    bool dirty = false;
  };
  std::vector<Page> pages_;
  std::optional<std::uint64_t> fail_in_;
};

class RingMapping {
 public:
  RingMapping(const AccessPlan& plan, GuestPages& pages) : plan_(plan), pages_(&pages) {}

  // Maps the plan's areas of the ring, on `core`; first ends any mapping there
  // is. False: a page could not be had; nothing is held and ring accesses stay
  // user accesses. With the IOTLB on there is nothing to map, and that is no failure.
  bool set_up(Core& core, const QueueConfig& ring);
  void tear_down(Core& core);

  // The guest's memory map changed under [first, first + count) pages: a mapping
  // that has one of them must go. Costs fall to `core`, the invalidating one.
  bool invalidate(Core& core, std::uint64_t first, std::uint64_t count);

  // A change of translation ends the mapping; without the IOTLB a new one is
  // made at once, as otherwise nothing ever would.
  bool change_translation(Core& core, Translation translation, const QueueConfig& ring);

  // May planned areas be read and written directly?
  bool usable() const { return usable_; }
  const AccessPlan& plan() const { return plan_; }
  std::uint64_t pinned_bytes() const;
  std::uint64_t pages_mapped() const;

 private:
  struct Area {
    std::uint64_t first = 0;  // page number
    std::uint64_t pages = 0;  // 0: not mapped
    bool written = false;     // the device writes this area
  };
  static constexpr std::size_t kAreas = 3;

  // The plan's areas of a ring, none for those not mapped.
  std::array<Area, kAreas> wanted(const QueueConfig& ring) const;
  bool map_area(Core& core, const Area& area);
  void unmap_area(Core& core, const Area& area, std::uint64_t pages);

  AccessPlan plan_;
  GuestPages* pages_;
  std::array<Area, kAreas> areas_{};
  bool usable_ = false;
};

}  // namespace vringlab::sim
