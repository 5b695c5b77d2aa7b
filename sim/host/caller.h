// Signals the guest: an eventfd that is wired to an interrupt.
#pragma once

#include "core/device/turn.h"
#include "sim/access/model_access.h"

namespace vringlab::sim {

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
