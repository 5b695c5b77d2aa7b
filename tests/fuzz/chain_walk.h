// The device's half against a guest that writes what it likes, when it likes.
// An input is a byte of configuration and a list of operations; see ChainWalk::run.
#pragma once

#include <set>

#include "tests/double/hostile_chains.h"
#include "tests/double/spy_access.h"
#include "tests/double/tx_rig.h"
#include "tests/fuzz/input.h"

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
  kSink,     // u8: bit 0, the sink refuses from now on; bit 1, it takes no batches
             // in the runs to come; bits 2 and 3, it has no buffer for frames sent alone
  kCount
};

// First byte of an input.
struct WalkConfig {
  bool event_idx;
  bool indirect;
  bool copies_batched;
  Layout layout;
  std::uint16_t size;

  explicit WalkConfig(std::uint8_t bits)
      : event_idx((bits & 1) != 0),
        indirect((bits & 2) != 0),
        copies_batched((bits & 4) != 0),
        layout(static_cast<Layout>((bits >> 3 & 7) % kLayouts)),
        size(static_cast<std::uint16_t>(8 >> (bits >> 6))) {}
  static std::uint8_t encode(std::uint64_t features, Layout layout) {
    return static_cast<std::uint8_t>(((features & kEventIdx) != 0 ? 1 : 0) |
                                     ((features & kIndirect) != 0 ? 2 : 0) |
                                     static_cast<int>(layout) << 3);
  }
  std::uint64_t features() const {
    return (event_idx ? kEventIdx : 0) | (indirect ? kIndirect : 0);
  }
};

// Follows each head from the avail ring to the used ring, without asking the engine.
struct HeadLedger {
  std::uint16_t size = 0;
  std::set<std::uint32_t> held;        // fetched, not yet returned
  std::uint32_t fetched = 0;           // heads, in this step
  std::uint16_t last_head = 0;         // the last of them
  bool bad_head = false;               // the last avail entry is no head that can be taken
  std::uint16_t used_idx = 0;          // what used.idx must be after the next publish
  std::uint32_t descriptor_reads = 0;  // in this step
  std::uint32_t table_bytes = 0;       // in this step
};

class LedgerAccess : public DirectAccess {
 public:
  LedgerAccess(const RingAreas& areas, HeadLedger& ledger)
      : DirectAccess(areas), ledger_(&ledger) {}

  std::uint16_t get_avail_head(std::uint16_t slot) const {
    require(slot < ledger_->size, "avail slot inside the ring");
    const std::uint16_t head = DirectAccess::get_avail_head(slot);
    ++ledger_->fetched;
    ledger_->last_head = head;
    ledger_->bad_head = head >= ledger_->size || !ledger_->held.insert(head).second;
    return head;
  }
  Desc get_descriptor(std::uint16_t index) const {
    require(index < ledger_->size, "descriptor inside the table");
    ++ledger_->descriptor_reads;
    return DirectAccess::get_descriptor(index);
  }
  void put_used_elements(std::uint16_t slot, const UsedElem* elems, std::uint16_t count) {
    require(slot + count <= ledger_->size, "used elements inside the ring");
    for (std::uint16_t i = 0; i < count; ++i) {
      require(ledger_->held.erase(elems[i].id) == 1, "a head is returned once, and was fetched");
      require(elems[i].len == 0, "a transmit queue writes nothing");
    }
    ledger_->used_idx = static_cast<std::uint16_t>(ledger_->used_idx + count);
    DirectAccess::put_used_elements(slot, elems, count);
  }
  void put_used_idx(std::uint16_t idx) {
    require(idx == ledger_->used_idx, "used.idx counts the elements");
    DirectAccess::put_used_idx(idx);
  }

 private:
  HeadLedger* ledger_;
};

class LedgerPayload : public DirectPayload {
 public:
  LedgerPayload(const GuestMemory& memory, HeadLedger& ledger)
      : DirectPayload(memory), ledger_(&ledger) {}

  void copy_in(Transfer what, std::byte* host, const std::byte* source, std::uint32_t len) {
    if (what == Transfer::kIndirect) ledger_->table_bytes += len;
    DirectPayload::copy_in(what, host, source, len);
  }

 private:
  HeadLedger* ledger_;
};

class ChainWalk {
 public:
  explicit ChainWalk(std::uint8_t bits)
      : config_(bits),
        guest_(regions_of(config_.layout)),
        ring_(guest_, config_.size, config_.features()),
        tx_({LedgerAccess(ring_.areas, ledger_), LedgerPayload(guest_.memory(), ledger_),
             ring_.config},
            pool_, sink_, caller_,
            {.batch = kBatch,
             .copy_batch = config_.copies_batched ? 3u : 1u,
             .weight = {.packets = 6}},
            guest_.regions()) {
    ledger_.size = config_.size;
  }

  void run(Input input) {
    while (!input.empty()) one(input);
    tx_.finish();
    end_of_run();
  }

 private:
  void one(Input& input) {
    switch (static_cast<WalkOp>(input.u8() % static_cast<std::uint8_t>(WalkOp::kCount))) {
      case WalkOp::kWrite:
        return write(input);
      case WalkOp::kDesc:
        return describe_buffer(input);
      case WalkOp::kOffer:
        return ring_.offer(input.u8());
      case WalkOp::kAvailIdx:
        ring_.avail_idx() = input.u16();
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

  void write(Input& input) {
    std::uint32_t addr = input.u16();
    addr |= static_cast<std::uint32_t>(input.u8()) << 16;
    for (std::uint32_t left = input.u8(); left > 0; --left, ++addr) {
      const std::byte value{input.u8()};
      if (guest_.holds(addr)) guest_.byte(addr) = value;
    }
  }
  void describe_buffer(Input& input) {
    const std::size_t index = input.u8();
    Desc& desc = ring_.desc(index % config_.size);
    desc.addr = input.u32();
    desc.len = input.u32();
    desc.flags = input.u8();
    desc.next = input.u8();
  }

  void step() {
    ledger_.descriptor_reads = ledger_.table_bytes = ledger_.fetched = 0;
    ledger_.bad_head = false;
    const std::uint16_t base = tx_.ring().base();
    const Turn turn = tx_.step();
    // Fetched and put back: the device holds it no more.
    if (ledger_.fetched == 1 && !ledger_.bad_head && tx_.ring().base() == base)
      ledger_.held.erase(ledger_.last_head);
    require(!ledger_.bad_head || turn == Turn::kBroken, "a bad head breaks the queue");
    require(turn != Turn::kBroken || broken(), "a broken queue says so");
    require(ledger_.descriptor_reads <= config_.size, "the walk is bounded by the table");
    require(ledger_.table_bytes <= config_.size * sizeof(Desc), "so is an indirect one");
    if (turn != Turn::kPacket) end_of_run();
  }

  void change_sink(std::uint8_t bits) {
    sink_.refuses = (bits & 1) != 0;
    tx_.change_socket({.batches = (bits & 2) == 0, .headroom = (bits & 4) == 0});
    sink_.alone_error = (bits & 8) != 0 ? RingError::kNoBuffer : RingError::kNone;
  }

  // Whatever was taken has been sent and returned; but for a chain that was put back,
  // which the device does not hold.
  void end_of_run() {
    require(ledger_.held.empty(), "no head is lost");
    require(pool_.outstanding() == 0, "no buffer is lost");
    for (const std::size_t batch : sink_.batches)
      require(batch <= kBatch, "a batch never exceeds its size");
    sink_.batches.clear();
    sink_.frames.clear();
  }

  void restart(std::uint16_t base) {
    tx_.reset();
    ledger_.held.clear();
    end_of_run();
    tx_.ring().start(base);
    ledger_.used_idx = ring_.used_idx();
  }

  bool broken() { return tx_.ring().state().broken != RingError::kNone; }

  static constexpr std::uint32_t kBatch = 4;

  WalkConfig config_;
  HeadLedger ledger_;
  RawGuest guest_;
  RawRing ring_;
  std::vector<std::byte> host_ = std::vector<std::byte>(2 * kFragChunkBytes);
  PageFragPool pool_{host_};
  KeepingSink sink_{.pool = &pool_, .refuses = false, .frames = {}, .batches = {}};
  CountingCaller caller_;
  NetTx<LedgerAccess, LedgerPayload, PageFragPool, KeepingSink, CountingCaller> tx_;
};

}  // namespace vringlab::test
