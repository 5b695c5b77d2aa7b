// A TAP device whose XDP program drops every frame, and the page fragments that
// frames travel in.
#pragma once

#include "core/backend/net/page_frag.h"
#include "core/backend/net/tx_sink.h"
#include "core/device/turn.h"
#include "sim/access/model_access.h"
#include "sim/machine/latency.h"

namespace vringlab::sim {

// The real allocator, charged for.
class ModelFrags {
 public:
  ModelFrags(DeviceContext& context, std::span<std::byte> memory)
      : context_(&context), pool_(memory) {}

  std::byte* allocate(std::uint32_t bytes) {
    Core& core = *context_->core;
    core.run(operation_index(Op::kAllocateBuffer));
    std::byte* buffer = pool_.allocate(bytes);
    // The metadata in front of the frame is written right away.
    if (buffer != nullptr) core.store(core.line_of(buffer), Step::kBuild);
    return buffer;
  }
  void release(std::byte* buffer) {
    context_->core->run(operation_index(Op::kReleaseFrame));
    pool_.release(buffer);
  }
  // The same for a frame whose release is part of a greater operation.
  void release_uncharged(std::byte* buffer) { pool_.release(buffer); }

 private:
  DeviceContext* context_;
  PageFragPool pool_;
};
static_assert(FrameBuffers<ModelFrags>);

class TapDrop {
 public:
  TapDrop(DeviceContext& context, ModelFrags& frags, LatencyLog& latency)
      : context_(&context), frags_(&frags), latency_(&latency) {}

  bool send(std::span<const XdpBuffer> batch) {
    Core& core = *context_->core;
    core.run(operation_index(Op::kSendCall));
    for (const XdpBuffer& buffer : batch) {
      core.load(core.line_of(buffer.hard_start), Step::kSend);
      core.run(operation_index(Op::kSendFrame));
      frags_->release_uncharged(buffer.hard_start);
      latency_->finish(core.now());
    }
    return true;
  }

 private:
  DeviceContext* context_;
  ModelFrags* frags_;
  LatencyLog* latency_;
};
static_assert(TxSink<TapDrop>);

// Signals the guest: an eventfd that is wired to an interrupt.
class ModelCaller {
 public:
  explicit ModelCaller(DeviceContext& context) : context_(&context) {}

  void call() {
    context_->core->run(operation_index(Op::kCall));
    context_->bells->call = true;
    context_->bells->call_ps = context_->core->now();
  }

 private:
  DeviceContext* context_;
};
static_assert(Caller<ModelCaller>);

}  // namespace vringlab::sim
