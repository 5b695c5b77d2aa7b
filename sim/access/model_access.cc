#include "sim/access/model_access.h"

#include <algorithm>
#include <array>

#include "sim/access/mapping.h"

namespace vringlab::sim {
namespace {

// Makes `next` a part of `last`, if it begins where that ends.
bool joined(Piece& last, const Piece& next) {
  if (last.host + last.len != next.host) return false;
  last.len += next.len;
  return true;
}

}  // namespace

unsigned section_scopes(const AccessPlan& plan, bool unmapped) {
  const bool sections =
      plan.user_access == UserAccess::kSection || plan.user_access == UserAccess::kSharedFixup;
  const bool desc = sections && (unmapped || !plan.map_desc);
  const bool avail = sections && (unmapped || !plan.map_avail);
  const bool used = sections && (unmapped || !plan.map_used);
  const bool several = plan.section_span == SectionSpan::kSeveralAreas;
  const auto bit = [](Scope scope, bool open) {
    return open ? 1u << static_cast<unsigned>(scope) : 0u;
  };
  return bit(Scope::kAvail, avail && !several) | bit(Scope::kDesc, desc && !several) |
         bit(Scope::kFetch, several && (avail || desc)) | bit(Scope::kUsed, used);
}

void DeviceContext::set_unmapped(const AccessPlan& plan, bool now) {
  unmapped = now;
  open_scopes = section_scopes(plan, now);
  leave_section();
}

void DeviceContext::enter_section(Scope scope) {
  core->run(operation_index(Op::kSectionAvail) + static_cast<std::size_t>(scope));
  variant = ring_variant_base({.in_section = true, .unmapped = unmapped});
}

void ModelPayload::touch_ring() {
  DeviceIommu& iommu = context_->iommu;
  if (iommu.flushes_seen == iommu.domain->flushes()) return;
  iommu.flushes_seen = iommu.domain->flushes();
  context_->core->run_times(operation_index(Op::kIotlbMiss), iommu.ring_pages);
  iommu.misses += iommu.ring_pages;
}

std::uint32_t ModelPayload::look_up(std::uint64_t page) {
  const IoDomain::Found found = context_->iommu.domain->look_up(page);
  if (found.missed) {
    context_->core->run(operation_index(Op::kIotlbMiss));
    ++context_->iommu.misses;
  }
  return found.memory;
}

Result<std::size_t> ModelPayload::translate_io(GuestAddr addr, std::uint32_t len,
                                               std::span<Piece> out) {
  touch_ring();
  if (len > UINT64_MAX - addr.value) return RingError::kAddressOverflow;
  std::size_t count = 0;
  for (std::uint32_t done = 0, bytes = 0; done < len; done += bytes) {
    const std::uint64_t at = addr.value + done;
    bytes = std::min(len - done, static_cast<std::uint32_t>(kPageBytes - at % kPageBytes));
    const std::uint32_t page = look_up(at / kPageBytes);
    if (page == IoDomain::kNowhere) return RingError::kAddressOutsideMemory;
    std::array<Piece, 1> part;  // regions are whole pages
    const auto parts = memory_.translate({page * kPageBytes + at % kPageBytes}, bytes, part);
    if (!parts.ok()) return parts;
    if (count > 0 && joined(out[count - 1], part[0])) continue;
    if (count == out.size()) return RingError::kTooManyPieces;
    out[count++] = part[0];
  }
  return count;
}

}  // namespace vringlab::sim
