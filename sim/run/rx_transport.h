// What a guest's driver reaches of one receive queue's device: registers, each access to which
// leaves for the VMM on the guest's own processor, and the vhost worker behind that.
#pragma once

#include "core/driver/queue_reset.h"
#include "sim/host/vhost_worker.h"
#include "sim/run/rx_side.h"

namespace vringlab::sim {

class RxTransport {
 public:
  // Registers of the common configuration (VIRTIO 1.2, 4.1.4.3), the queue being selected once;
  // Linux selects it again before most of them.
  static constexpr std::uint32_t kAskExits = 2;     // queue_select, queue_reset
  static constexpr std::uint32_t kAnswerExits = 2;  // queue_reset and queue_enable read: both 0
  // queue_size; the addresses of three areas, each in two halves; the vector, and that read
  // back; queue_enable.
  static constexpr std::uint32_t kEnableExits = 10;

  RxTransport(Core& core, RxSide& side, VhostWorker<RxSide::Device>& worker)
      : core_(&core), side_(&side), worker_(&worker) {}

  // The VMM waits for the worker, and the guest for the VMM.
  void ask() {
    exit(kAskExits);
    worker_->stop(core_->now());
  }
  bool reset_queue() {
    core_->run(operation_index(Op::kQueueStop));
    side_->stop(*core_);
    exit(kAnswerExits);
    return true;
  }
  void enable_queue(const QueueConfig& ring) {
    exit(kEnableExits);
    core_->run(operation_index(Op::kQueueStart));
    side_->start(*core_, ring);
    worker_->start(ring, core_->now());
  }

  // Packets in the guest's buffers so far.
  std::uint64_t delivered() const { return side_->rx.counters().packets; }

 private:
  void exit(std::uint32_t times) {
    for (; times > 0; --times) core_->run(operation_index(Op::kResetExit));
  }

  Core* core_;
  RxSide* side_;
  VhostWorker<RxSide::Device>* worker_;
};
static_assert(QueueTransport<RxTransport>);

}  // namespace vringlab::sim
