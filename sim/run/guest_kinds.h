// What scenarios with a guest's kernel or its sockets have in common.
#pragma once

#include "sim/guest/xsk_socket.h"
#include "sim/run/net_machine.h"

namespace vringlab::sim {

// A guest with an application on a virtual processor of its own.
template <class Guest>
concept HasApp = requires(Guest guest) {
  guest.app();
  guest.signals();
};

// A guest whose queue is resized while packets come.
template <class Guest>
concept Resizable = requires(Guest guest) {
  guest.resize_due(std::uint64_t{});
  guest.device_stopped(std::uint64_t{});
};

// The rings and the umem of an AF_XDP socket: a chunk for each place in a ring or virtqueue
// that can hold one.
XskLayout place_xsk(const Scenario& scenario, Layout& guest);

}  // namespace vringlab::sim
