// What a guest kernel's receive queue has besides the queue: fragments that buffers are cut from
// and a bounce pool.
#pragma once

#include "core/driver/bounce_dma.h"
#include "core/driver/rx_buffers.h"
#include "sim/run/net_machine.h"

namespace vringlab::sim {

// Where they lie in guest memory; nothing, where the guest is no kernel.
struct KernelRxLayout {
  RxBuffersConfig fragments;
  BounceConfig pool;
};
KernelRxLayout place_kernel_rx(const Scenario& scenario, Layout& guest);

// How long a poll that found little puts off the next interrupt.
std::uint64_t defer_ps(const Scenario& scenario);

}  // namespace vringlab::sim
