// What a kick does in the host.
#pragma once

#include "sim/access/model_access.h"

namespace vringlab::sim {

// Rings the worker's doorbell.
struct RingBell {
  Doorbells* bells;

  void operator()(Core& core) const {
    bells->kick = true;
    bells->kick_ps = core.now();
  }
};

// Serves kicks: either rings the worker's doorbell, or first lets the kick serve
// some packets itself.
template <class Worker>
struct KickHost {
  Worker* worker;
  Doorbells* bells;
  bool serve_inline;

  void operator()(Core& core) const {
    if (serve_inline && !worker->serve_inline(core)) return;
    RingBell{bells}(core);
  }
};

}  // namespace vringlab::sim
