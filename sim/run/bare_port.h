// Requests of jobs that run on the host itself: to the block layer and back.
#pragma once

#include <optional>
#include <vector>

#include "sim/guest/blk_vcpu.h"
#include "sim/host/bio_store.h"

namespace vringlab::sim {

class BarePort {
 public:
  static constexpr bool kVirtual = false;

  // `disk`: null for a RAM disk, which is done when it has been copied.
  BarePort(Disk* disk, BlkBytes& bytes, std::uint16_t index)
      : disk_(disk), bytes_(&bytes), index_(index) {}

  bool has_room() const { return idle_.size() + (UINT16_MAX - kept_.size()) > 0; }

  void add(Core& core, const BlkGuestRequest& request) {
    const std::uint16_t slot = keep(request);
    core.run(operation_index(Op::kBioSubmit));
    if (disk_ == nullptr) {
      core.run_times(operation_index(Op::kRamPage), pages_of(request.bytes));
      done(slot);
      return;
    }
    disk_->submit(core.now(), {disk_op(request.op),
                               request.offset,
                               request.bytes,
                               {DiskClient::Kind::kRequest, index_, slot}});
  }
  bool publish(Core&) { return false; }

  // The disk has done with a request.
  void done(std::uint16_t slot) {
    const BlkGuestRequest& request = kept_[slot];
    const Piece piece{request.data_host, static_cast<std::uint32_t>(request.bytes)};
    bytes_->execute({.slot = slot,
                     .op = request.op,
                     .offset_bytes = request.offset,
                     .bytes = request.bytes,
                     .pieces = {&piece, 1}});
    done_.push_back(slot);
  }
  bool has_done() const { return next_done_ < done_.size(); }

  void begin_interrupt(Core&, bool) {}
  std::optional<std::uint64_t> reap(Core& core) {
    if (!has_done()) {
      done_.clear();
      next_done_ = 0;
      return std::nullopt;
    }
    core.run(operation_index(Op::kBioComplete));
    idle_.push_back(done_[next_done_++]);
    return kept_[idle_.back()].token;
  }
  bool end_interrupt(Core&) { return false; }
  bool failed(const BlkIoSlot&, std::uint16_t) const { return false; }

 private:
  std::uint16_t keep(const BlkGuestRequest& request) {
    if (idle_.empty()) {
      idle_.push_back(static_cast<std::uint16_t>(kept_.size()));
      kept_.emplace_back();
    }
    const std::uint16_t slot = idle_.back();
    idle_.pop_back();
    kept_[slot] = request;
    return slot;
  }

  Disk* disk_;
  BlkBytes* bytes_;
  std::uint16_t index_;
  std::vector<BlkGuestRequest> kept_;  // by slot
  std::vector<std::uint16_t> idle_;    // slots
  std::vector<std::uint16_t> done_;    // in their order
  std::size_t next_done_ = 0;          // of them, not reaped
};

}  // namespace vringlab::sim
