// The zero-copy transmit loop against a guest that writes what it likes, when it likes,
// and a sink that completes in any order. An input is a byte of configuration and a list
// of operations; see ZeroCopyFuzz::run.
#pragma once

#include <deque>

#include "tests/double/zerocopy_rig.h"
#include "tests/fuzz/hostile_guest.h"

namespace vringlab::test {

// The first ones as WalkOp has them.
enum class ZeroCopyOp : std::uint8_t {
  kWrite,     // u24 address, u8 count, bytes: guest memory
  kDesc,      // u8 index, u32 addr, u32 len, u8 flags, u8 next
  kOffer,     // u8 head: avail entry and index
  kAvailIdx,  // u16
  kStep,
  kArm,
  kFinish,    // end the run, as a worker does that has other work
  kRestart,   // u16 base: reset and start, once nothing is lent
  kSink,      // u8: bit 0, no room; bit 1, borrows nothing; bit 2, completes before it returns
  kComplete,  // u8: bits 0 to 6, which of the frames lent; bit 7, it was copied after all
  kCount
};

// Holds the heads to the order they were fetched in.
class OrderedAccess : public LedgerAccess {
 public:
  OrderedAccess(const RingAreas& areas, HeadLedger& ledger, std::deque<std::uint32_t>& order)
      : LedgerAccess(areas, ledger), ledger_(&ledger), order_(&order) {}

  std::uint16_t get_avail_head(std::uint16_t slot) const {
    const std::uint16_t head = LedgerAccess::get_avail_head(slot);
    if (!ledger_->bad_head) order_->push_back(head);
    return head;
  }
  void put_used_elements(std::uint16_t slot, const UsedElem* elems, std::uint16_t count) {
    for (std::uint16_t i = 0; i < count; ++i) {
      require(!order_->empty() && order_->front() == elems[i].id, "heads return in their order");
      order_->pop_front();
    }
    LedgerAccess::put_used_elements(slot, elems, count);
  }

 private:
  HeadLedger* ledger_;
  std::deque<std::uint32_t>* order_;
};

class ZeroCopyFuzz {
 public:
  explicit ZeroCopyFuzz(std::uint8_t bits)
      : guest_(bits),
        tx_({OrderedAccess(guest_.ring.areas, guest_.ledger, order_),
             LedgerPayload(guest_.memory.memory(), guest_.ledger), guest_.ring.config},
            sink_, caller_,
            {.zerocopy_min_bytes = 40,
             .used_batch = guest_.config.third ? 3u : 1u,
             .weight = {.packets = 6}},
            guest_.memory.regions()) {}

  void run(Input input) {
    while (!input.empty()) one(input);
    tx_.finish();
    complete_all();
    tx_.finish();
    end_of_run();
  }

 private:
  void one(Input& input) {
    switch (static_cast<ZeroCopyOp>(input.u8() % static_cast<std::uint8_t>(ZeroCopyOp::kCount))) {
      case ZeroCopyOp::kWrite:
        return guest_.write(input);
      case ZeroCopyOp::kDesc:
        return guest_.describe_buffer(input);
      case ZeroCopyOp::kOffer:
        return guest_.ring.offer(input.u8());
      case ZeroCopyOp::kAvailIdx:
        guest_.ring.avail_idx() = input.u16();
        return;
      case ZeroCopyOp::kStep:
        return step();
      case ZeroCopyOp::kArm:
        return arm();
      case ZeroCopyOp::kFinish:
        tx_.finish();
        return end_of_run();
      case ZeroCopyOp::kRestart:
        return restart(input.u16());
      case ZeroCopyOp::kSink:
        return change_sink(input.u8());
      case ZeroCopyOp::kComplete:
        return complete(input.u8());
      default:
        return;
    }
  }

  void step() {
    HeadLedger& ledger = guest_.ledger;
    ledger.start_step();
    const std::uint16_t base = tx_.ring().base();
    const Turn turn = tx_.step();
    if (ledger.fetched.size() == 1 && tx_.ring().base() == base) {  // put back
      ledger.discard(1);
      order_.pop_back();
    }
    require(!ledger.bad_head || turn == Turn::kBroken, "a bad head breaks the queue");
    require(turn != Turn::kBroken || broken(), "a broken queue says so");
    require(ledger.descriptor_reads <= guest_.config.size, "the walk is bounded by the table");
    require(ledger.table_bytes <= guest_.config.size * sizeof(Desc), "so is an indirect one");
    collect();
    if (turn != Turn::kPacket) end_of_run();
  }

  // Takes the borrowed frames out of the sink, unless it has completed them itself.
  void collect() {
    for (TakenFrame& frame : sink_.frames)
      if (frame.borrowed && !sink_.on_borrow) lent_.push_back(std::move(frame));
    sink_.frames.clear();
    require(tx_.pending() == lent_.size(), "what is pending is what was lent");
    require(lent_.size() <= guest_.config.size / 4u, "no more is lent than a quarter of the ring");
  }

  void arm() {
    require(!tx_.arm() || !broken() || tx_.finished(), "a broken queue has no work of its own");
  }

  void change_sink(std::uint8_t bits) {
    sink_.alone_error = (bits & 1) != 0 ? RingError::kNoBuffer : RingError::kNone;
    sink_.borrowed_error = (bits & 2) != 0 ? RingError::kFrameTooLong : sink_.alone_error;
    sink_.on_borrow = nullptr;
    if ((bits & 4) != 0) sink_.on_borrow = [this](std::uint16_t slot) { tx_.complete(slot, true); };
  }

  void complete(std::uint8_t which) {
    if (lent_.empty()) return;
    const auto index = static_cast<std::size_t>(which & 0x7f) % lent_.size();
    const auto frame = lent_.begin() + static_cast<std::ptrdiff_t>(index);
    require(frame->read().size() == frame->bytes.size(), "a piece is guest memory");
    tx_.complete(frame->slot, (which & 0x80) != 0);
    lent_.erase(frame);
  }
  void complete_all() {
    while (!lent_.empty()) complete(0);
  }

  // Whatever was taken has been returned, up to the first chain that is lent.
  void end_of_run() {
    require(!tx_.finished(), "nothing finished is kept back");
    require(guest_.ledger.held.size() == order_.size(), "the ledgers agree");
    require(order_.empty() == lent_.empty(), "no head is lost");
  }

  void restart(std::uint16_t base) {
    require(tx_.reset() == lent_.empty(), "a reset waits for what is lent");
    complete_all();
    require(tx_.reset(), "and for nothing else");
    guest_.ledger.restart(guest_.ring.used_idx());
    order_.clear();
    end_of_run();
    tx_.ring().start(base);
  }

  bool broken() { return tx_.ring().state().broken != RingError::kNone; }

  HostileGuest guest_;
  std::deque<std::uint32_t> order_;  // heads fetched and not returned, in order
  std::vector<TakenFrame> lent_;
  BorrowingSink sink_;
  CountingCaller caller_;
  NetTxZeroCopy<OrderedAccess, LedgerPayload, BorrowingSink, CountingCaller> tx_;
};

}  // namespace vringlab::test
