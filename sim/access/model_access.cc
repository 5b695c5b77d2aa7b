#include "sim/access/model_access.h"

namespace vringlab::sim {

std::array<bool, 4> section_scopes(const AccessPlan& plan, bool unmapped) {
  const bool sections =
      plan.user_access == UserAccess::kSection || plan.user_access == UserAccess::kSharedFixup;
  const bool desc = sections && (unmapped || !plan.map_desc);
  const bool avail = sections && (unmapped || !plan.map_avail);
  const bool used = sections && (unmapped || !plan.map_used);
  const bool several = plan.section_span == SectionSpan::kSeveralAreas;
  // In the order of Scope: kAvail, kDesc, kFetch, kUsed.
  return {avail && !several, desc && !several, several && (avail || desc), used};
}

}  // namespace vringlab::sim
