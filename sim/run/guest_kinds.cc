#include "sim/run/guest_kinds.h"

namespace vringlab::sim {

XskLayout place_xsk(const Scenario& s, Layout& guest) {
  XskLayout layout;
  layout.ring_size = s.xsk_ring;
  // The fill ring holds them all; a sender has frames in the virtqueue besides, and a burst.
  layout.chunks = s.workload == "rx" ? s.xsk_ring : s.xsk_ring + s.ring_size + s.guest_burst;
  layout.rings = {guest.place(layout.rings_bytes())};
  layout.header = {guest.place(sizeof(VirtioNetHdr))};
  layout.umem = {guest.place(layout.umem_bytes())};
  return layout;
}

}  // namespace vringlab::sim
