// One receive queue twice: on plain memory and on the simulated machine.
#pragma once

#include "tests/double/model_machine.h"
#include "tests/double/rx_rig.h"

namespace vringlab::test {

// What a player of traces asks of a receive queue's host: packets of most lengths.
struct RxTraceHost {
  static constexpr std::uint32_t kGuestBytes = 0x20000;
  static constexpr std::uint16_t kBufferFlags = kDescWrite;

  PacketQueue socket;
  CountingCaller caller;

  void host_acts(std::uint64_t dice) {
    const auto bits = static_cast<std::uint32_t>(dice);
    const std::uint32_t longest = bits / 16 % 4 == 0 ? 9000 : 200;
    socket.put(bits / 64 % longest, bits % 251, 1 + bits % 16);
  }
};

struct PlainRx : RxTraceHost {
  std::vector<std::byte> bytes = std::vector<std::byte>(kGuestBytes);
  GuestMemory memory{{{GuestAddr{0}, bytes}}};
  RawRing ring;
  NetRx<DirectAccess, DirectPayload, PacketQueue, CountingCaller> rx;

  PlainRx(const QueueConfig& config, const NetRxConfig& options)
      : ring(memory, config),
        rx({DirectAccess(ring.areas), DirectPayload(memory), config}, socket, caller, options, 1) {}
  std::span<std::byte> guest_bytes() { return bytes; }
  auto& device() { return rx; }
};

struct ModelRx : RxTraceHost {
  ModelMachine model;
  GuestMemory memory{{{GuestAddr{0}, std::span(model.bytes).first(kGuestBytes)}}};
  RawRing ring;
  NetRx<sim::ModelAccess, sim::ModelPayload, PacketQueue, CountingCaller> rx;

  ModelRx(const QueueConfig& config, const NetRxConfig& options, const sim::AccessPlan& plan)
      : model(plan),
        ring(memory, config),
        rx({sim::ModelAccess(model.context, ring.areas, plan),
            sim::ModelPayload(model.context, memory), config},
           socket, caller, options, 1) {}
  std::span<std::byte> guest_bytes() { return std::span(model.bytes).first(kGuestBytes); }
  auto& device() { return rx; }
};

}  // namespace vringlab::test
