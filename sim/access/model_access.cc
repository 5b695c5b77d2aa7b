#include "sim/access/model_access.h"

namespace vringlab::sim {

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

}  // namespace vringlab::sim
