#include "sim/access/mapping.h"

#include <algorithm>

namespace vringlab::sim {

bool GuestPages::pin(std::uint64_t page) {
  if (page >= pages_.size()) return false;
  if (fail_in_ && (*fail_in_)-- == 0) {
    fail_in_.reset();
    return false;
  }
  ++pages_[page].pins;
  return true;
}

void GuestPages::unpin(std::uint64_t page, bool dirty) {
  --pages_.at(page).pins;
  pages_[page].dirty = pages_[page].dirty || dirty;
}

std::uint64_t GuestPages::pinned_pages() const {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(pages_, [](const Page& page) { return page.pins > 0; }));
}

std::array<RingMapping::Area, RingMapping::kAreas> RingMapping::wanted(
    const QueueConfig& ring) const {
  const bool event_idx = ring.has(kFeatureRingEventIdx);
  const auto area = [](bool mapped, GuestAddr addr, std::uint64_t bytes, bool written) {
    return Area{addr.value / kPageBytes, mapped ? page_span(addr.value, bytes) : 0, written};
  };
  return {area(plan_.map_desc, ring.desc, desc_bytes(ring.size), false),
          area(plan_.map_avail, ring.avail, avail_bytes(ring.size, event_idx), false),
          area(plan_.map_used, ring.used, used_bytes(ring.size, event_idx), true)};
}

bool RingMapping::map_area(Core& core, const Area& area) {
  for (std::uint64_t i = 0; i < area.pages; ++i) {
    if (!pages_->pin(area.first + i)) {
      unmap_area(core, {area.first, i, false}, i);  // these pages of this area, no others
      return false;
    }
    core.run(operation_index(Op::kMapPage));
  }
  return true;
}

void RingMapping::unmap_area(Core& core, const Area& area, std::uint64_t pages) {
  for (std::uint64_t i = 0; i < pages; ++i) {
    pages_->unpin(area.first + i, area.written);
    core.run(operation_index(Op::kUnmapPage));
  }
  if (pages > 0) core.run(operation_index(Op::kUnmapArea));
}

bool RingMapping::set_up(Core& core, const QueueConfig& ring) {
  tear_down(core);
  if (plan_.translation != Translation::kUserAddress) return true;
  const auto areas = wanted(ring);
  for (std::size_t i = 0; i < kAreas; ++i) {
    if (map_area(core, areas[i])) {
      areas_[i] = areas[i];
    } else {
      tear_down(core);  // the areas before this one, which are in areas_
      return false;
    }
  }
  usable_ = plan_.maps_any();
  return true;
}

void RingMapping::tear_down(Core& core) {
  // Readers under RCU may hold the mapping until a grace period is over; other
  // guards let nobody in once the mapping is unpublished.
  if (usable_ && plan_.guard == Guard::kRcu) core.run(operation_index(Op::kWaitReaders));
  usable_ = false;
  for (Area& area : areas_) {
    unmap_area(core, area, area.pages);
    area = {};
  }
}

bool RingMapping::invalidate(Core& core, std::uint64_t first, std::uint64_t count) {
  const bool hit = std::ranges::any_of(areas_, [&](const Area& area) {
    return area.pages > 0 && first < area.first + area.pages && area.first < first + count;
  });
  if (!hit) return false;
  core.run(operation_index(Op::kInvalidate));
  tear_down(core);
  return true;
}

bool RingMapping::change_translation(Core& core, Translation translation, const QueueConfig& ring) {
  plan_.translation = translation;
  return set_up(core, ring);
}

std::uint64_t RingMapping::pages_mapped() const {
  std::uint64_t sum = 0;
  for (const Area& area : areas_) sum += area.pages;
  return sum;
}

std::uint64_t RingMapping::pinned_bytes() const { return pages_mapped() * kPageBytes; }

}  // namespace vringlab::sim
