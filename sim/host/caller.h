// Signals the guest: an eventfd that is wired to an interrupt.
#pragma once

#include "core/device/turn.h"
#include "sim/access/model_access.h"

namespace vringlab::sim {

class ModelCaller {
 public:
  // `op`: what a call costs the caller.
  explicit ModelCaller(DeviceContext& context, Op op = Op::kCall) : context_(&context), op_(op) {}

  void call() {
    context_->core->run(operation_index(op_));
    context_->bells->call = true;
    context_->bells->call_ps = context_->core->now();
  }

 private:
  DeviceContext* context_;
  Op op_;
};
static_assert(Caller<ModelCaller>);

}  // namespace vringlab::sim
