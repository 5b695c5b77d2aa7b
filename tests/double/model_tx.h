// One transmit queue twice: on plain memory and on the simulated machine. Both lie
// in memory of one layout, so that what they leave behind compares byte for byte.
#pragma once

#include "core/device/net_tx.h"
#include "tests/double/model_machine.h"
#include "tests/double/tx_rig.h"

namespace vringlab::test {

// Guest memory from 0, the host's frame buffers behind it.
inline constexpr std::uint32_t kHostBegin = 0x20000;

struct PlainTx {
  std::vector<std::byte> bytes = std::vector<std::byte>(ModelMachine::kBytes);
  GuestMemory memory{{{GuestAddr{0}, std::span(bytes).first(kHostBegin)}}};
  RawRing ring;
  PageFragPool pool{std::span(bytes).subspan(kHostBegin)};
  KeepingSink sink{.pool = &pool, .refuses = false, .frames = {}, .batches = {}};
  CountingCaller caller;
  NetTx<DirectAccess, DirectPayload, PageFragPool, KeepingSink, CountingCaller> tx;

  PlainTx(const QueueConfig& config, const NetTxConfig& options)
      : ring(memory, config),
        tx({DirectAccess(ring.areas), DirectPayload(memory), config}, pool, sink, caller, options,
           1) {}
  std::span<std::byte> guest_bytes() { return std::span(bytes).first(kHostBegin); }

  // What a player of traces asks of a queue.
  static constexpr std::uint16_t kBufferFlags = 0;
  auto& device() { return tx; }
  void host_acts(std::uint64_t dice) { sink.refuses = dice % 5 == 0; }
};

struct ModelTx {
  ModelMachine model;
  GuestMemory memory{{{GuestAddr{0}, std::span(model.bytes).first(kHostBegin)}}};
  RawRing ring;
  PageFragPool pool{std::span(model.bytes).subspan(kHostBegin)};
  KeepingSink sink{.pool = &pool, .refuses = false, .frames = {}, .batches = {}};
  CountingCaller caller;
  NetTx<sim::ModelAccess, sim::ModelPayload, PageFragPool, KeepingSink, CountingCaller> tx;

  ModelTx(const QueueConfig& config, const NetTxConfig& options, const sim::AccessPlan& plan)
      : model(plan),
        ring(memory, config),
        tx({sim::ModelAccess(model.context, ring.areas, plan),
            sim::ModelPayload(model.context, memory), config},
           pool, sink, caller, options, 1) {}
  std::span<std::byte> guest_bytes() { return std::span(model.bytes).first(kHostBegin); }

  // What a player of traces asks of a queue.
  static constexpr std::uint16_t kBufferFlags = 0;
  auto& device() { return tx; }
  void host_acts(std::uint64_t dice) { sink.refuses = dice % 5 == 0; }
};

}  // namespace vringlab::test
