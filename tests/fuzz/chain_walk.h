// The device's half against a guest that writes what it likes, when it likes.
// An input is a byte of configuration and a list of operations; see ChainWalk::run.
#pragma once

#include "tests/double/tx_rig.h"
#include "tests/fuzz/hostile_guest.h"

namespace vringlab::test {

enum class WalkOp : std::uint8_t {
  kWrite,     // u24 address, u8 count, bytes: guest memory
  kDesc,      // u8 index, u32 addr, u32 len, u8 flags, u8 next
  kOffer,     // u8 head: avail entry and index
  kAvailIdx,  // u16
  kStep,
  kArm,
  kFinish,   // end the run, as a worker does that has other work
  kRestart,  // u16 base: reset and start
  kSink,     // u8: bit 0, the sink refuses from now on; bits 1 and 2, it takes no batches and
             // runs no program in the runs to come; bit 3, it has no buffer for lone frames
  kCount
};

class ChainWalk {
 public:
  explicit ChainWalk(std::uint8_t bits)
      : guest_(bits),
        tx_(guest_.device(), pool_, sink_, caller_,
            {.batch = kBatch,
             .copy_batch = guest_.config.third ? 3u : 1u,  // copies batched
             .weight = {.packets = 6}},
            guest_.memory.regions()) {}

  void run(Input input) {
    while (!input.empty()) one(input);
    tx_.finish();
    end_of_run();
  }

 private:
  void one(Input& input) {
    switch (static_cast<WalkOp>(input.u8() % static_cast<std::uint8_t>(WalkOp::kCount))) {
      case WalkOp::kWrite:
        return guest_.write(input);
      case WalkOp::kDesc:
        return guest_.describe_buffer(input);
      case WalkOp::kOffer:
        return guest_.ring.offer(input.u8());
      case WalkOp::kAvailIdx:
        guest_.ring.avail_idx() = input.u16();
        return;
      case WalkOp::kStep:
        return step();
      case WalkOp::kArm:
        require(!tx_.arm() || !broken(), "a broken queue has no work");
        return;
      case WalkOp::kFinish:
        tx_.finish();
        return end_of_run();
      case WalkOp::kRestart:
        return restart(input.u16());
      case WalkOp::kSink:
        return change_sink(input.u8());
      default:
        return;
    }
  }

  void step() {
    HeadLedger& ledger = guest_.ledger;
    ledger.start_step();
    const std::uint16_t base = tx_.ring().base();
    const Turn turn = tx_.step();
    if (ledger.fetched.size() == 1 && tx_.ring().base() == base) ledger.discard(1);  // put back
    require(!ledger.bad_head || turn == Turn::kBroken, "a bad head breaks the queue");
    require(turn != Turn::kBroken || broken(), "a broken queue says so");
    require(ledger.descriptor_reads <= guest_.config.size, "the walk is bounded by the table");
    require(ledger.table_bytes <= guest_.config.size * sizeof(Desc), "so is an indirect one");
    if (turn != Turn::kPacket) end_of_run();
  }

  void change_sink(std::uint8_t bits) {
    sink_.refuses = (bits & 1) != 0;
    tx_.change_socket({.batches = (bits & 2) == 0, .headroom = (bits & 4) == 0});
    sink_.alone_error = (bits & 8) != 0 ? RingError::kNoBuffer : RingError::kNone;
  }

  // Whatever was taken has been sent and returned, or put back.
  void end_of_run() {
    require(guest_.ledger.held.empty(), "no head is lost");
    require(pool_.outstanding() == 0, "no buffer is lost");
    for (const std::size_t batch : sink_.batches)
      require(batch <= kBatch, "a batch never exceeds its size");
    sink_.batches.clear();
    sink_.frames.clear();
  }

  void restart(std::uint16_t base) {
    tx_.reset();
    guest_.ledger.restart(guest_.ring.used_idx());
    end_of_run();
    tx_.ring().start(base);
  }

  bool broken() { return tx_.ring().state().broken != RingError::kNone; }

  static constexpr std::uint32_t kBatch = 4;

  HostileGuest guest_;
  std::vector<std::byte> host_ = std::vector<std::byte>(2 * kFragChunkBytes);
  PageFragPool pool_{host_};
  KeepingSink sink_{.pool = &pool_, .refuses = false, .frames = {}, .batches = {}};
  CountingCaller caller_;
  NetTx<LedgerAccess, LedgerPayload, PageFragPool, KeepingSink, CountingCaller> tx_;
};

}  // namespace vringlab::test
