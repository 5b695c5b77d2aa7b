// The page fragments that frames travel in.
#pragma once

#include "core/backend/net/page_frag.h"
#include "core/backend/net/tx_sink.h"
#include "sim/access/model_access.h"

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

}  // namespace vringlab::sim
