#include "core/memory/ring_areas.h"

namespace vringlab {

Result<RingAreas> map_ring_areas(const GuestMemory& memory, const QueueConfig& config) {
  if (!valid_queue_size(config.size)) return RingError::kQueueSize;
  if (config.desc.value % kDescAlign != 0 || config.avail.value % kAvailAlign != 0 ||
      config.used.value % kUsedAlign != 0)
    return RingError::kRingAreaAlignment;
  const bool event_idx = config.has(kFeatureRingEventIdx);
  const auto desc = memory.contiguous(config.desc, desc_bytes(config.size));
  const auto avail = memory.contiguous(config.avail, avail_bytes(config.size, event_idx));
  const auto used = memory.contiguous(config.used, used_bytes(config.size, event_idx));
  if (!desc.ok() || !avail.ok() || !used.ok()) return RingError::kRingAreaOutsideMemory;
  return RingAreas{.desc = reinterpret_cast<Desc*>(desc.value()),
                   .avail = reinterpret_cast<std::uint16_t*>(avail.value()),
                   .used = reinterpret_cast<std::uint16_t*>(used.value()),
                   .size = static_cast<std::uint16_t>(config.size)};
}

}  // namespace vringlab
