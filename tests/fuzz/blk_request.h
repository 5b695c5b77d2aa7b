// The block loop against a guest that writes what it likes, when it likes, and a store that
// completes in any order, fails or has no room. An input is a byte of configuration and a list of
// operations; see BlkFuzz::run.
#pragma once

#include <optional>

#include "core/device/blk.h"
#include "tests/double/counting_caller.h"
#include "tests/fuzz/checked_store.h"
#include "tests/fuzz/hostile_guest.h"

namespace vringlab::test {

// The first ones as WalkOp has them.
enum class BlkFuzzOp : std::uint8_t {
  kWrite,     // u24 address, u8 count, bytes: guest memory
  kDesc,      // u8 index, u32 addr, u32 len, u8 flags, u8 next
  kOffer,     // u8 head: avail entry and index
  kAvailIdx,  // u16
  kStep,
  kArm,
  kFinish,    // end the run, as a worker does that has other work
  kRestart,   // u16 base, u8 disk: reset and start, once nothing is pending, with another disk
  kStore,     // u8: bits 0 and 1, CheckedStore::Mode; bit 2, requests fail
  kComplete,  // u8: which of the pending requests
  kFlush,     // publish what has completed
  kAsk,       // u8 head, u8 type, u8 sector, u8 length: a request as a driver would make it
  kCount
};

class BlkFuzz {
 public:
  explicit BlkFuzz(std::uint8_t bits) : guest_(bits), store_(guest_.memory.memory()) {
    store_.complete = [this](std::uint16_t slot, BlkStatus status) {
      blk_->complete(slot, status);
    };
    make();
  }

  void run(Input input) {
    while (!input.empty()) one(input);
    blk_->finish();
    complete_all();
    blk_->flush();
    end_of_run();
  }

 private:
  using Device = Blk<LedgerAccess, LedgerPayload, CheckedStore, CountingCaller>;

  void make() {
    blk_.emplace(guest_.device(), store_, caller_,
                 BlkConfig{.disk = store_.disk,
                           .used_batch = guest_.config.third ? 3u : 1u,
                           .max_in_flight = kMaxInFlight,
                           .weight = 6},
                 guest_.memory.regions());
  }

  void one(Input& input) {
    switch (static_cast<BlkFuzzOp>(input.u8() % static_cast<std::uint8_t>(BlkFuzzOp::kCount))) {
      case BlkFuzzOp::kWrite:
        return guest_.write(input);
      case BlkFuzzOp::kDesc:
        return guest_.describe_buffer(input);
      case BlkFuzzOp::kOffer:
        return guest_.ring.offer(input.u8());
      case BlkFuzzOp::kAvailIdx:
        guest_.ring.avail_idx() = input.u16();
        return;
      case BlkFuzzOp::kStep:
        return step();
      case BlkFuzzOp::kArm:
        require(!blk_->arm() || !broken() || blk_->finished(), "a broken queue has no work");
        return;
      case BlkFuzzOp::kFinish:
        blk_->finish();
        return end_of_run();
      case BlkFuzzOp::kRestart:
        return restart(input);
      case BlkFuzzOp::kStore:
        return change_store(input.u8());
      case BlkFuzzOp::kComplete:
        return complete(input.u8());
      case BlkFuzzOp::kFlush:
        blk_->flush();
        return require(!blk_->finished(), "a flush keeps nothing back");
      case BlkFuzzOp::kAsk:
        return ask(input);
      default:
        return;
    }
  }

  void step() {
    HeadLedger& ledger = guest_.ledger;
    ledger.start_step();
    const std::uint16_t base = blk_->ring().base();
    const Turn turn = blk_->step();
    const bool put_back = ledger.fetched.size() == 1 && blk_->ring().base() == base;
    if (put_back) ledger.discard(1);
    require(!put_back || blk_->blocked(), "only want of room puts a request back");
    require(!ledger.bad_head || turn == Turn::kBroken, "a bad head breaks the queue");
    require(turn != Turn::kBroken || broken(), "a broken queue says so");
    require(turn != Turn::kPacket || ledger.fetched.size() == 1, "one request a turn");
    require(ledger.descriptor_reads <= guest_.config.size, "the walk is bounded by the table");
    require(ledger.table_bytes <= guest_.config.size * sizeof(Desc), "so is an indirect one");
    require(blk_->pending() == store_.pending(), "what is pending is with the store");
    require(blk_->pending() <= kMaxInFlight, "no more are in flight than configured");
    if (turn != Turn::kPacket) end_of_run();
  }

  void change_store(std::uint8_t bits) {
    store_.mode = static_cast<CheckedStore::Mode>(bits & 3);
    store_.fails = (bits & 4) != 0;
  }

  void complete(std::uint8_t which) {
    if (store_.pending() == 0) return;
    store_.finish(blk_->ring().payload(), which);
    require(!blk_->blocked(), "there is room now");
  }
  void complete_all() {
    while (store_.pending() > 0) complete(0);
  }

  // Whatever was taken has been answered and published, or is with the store, which has begun.
  void end_of_run() {
    require(!blk_->finished(), "nothing that has completed is kept back");
    require(store_.begun == 0, "the store has been told to begin");
    require(guest_.ledger.held.size() == blk_->pending(), "no head is lost");
  }

  void restart(Input& input) {
    const std::uint16_t base = input.u16();
    require(blk_->reset() == (store_.pending() == 0), "a reset waits for what is pending");
    complete_all();
    require(blk_->reset(), "and for nothing else");
    store_.end_batch();
    const std::uint8_t bits = input.u8();
    store_.disk.read_only = (bits & 1) != 0;
    store_.disk.flush = (bits & 2) == 0;
    store_.disk.discard = (bits & 4) == 0;
    store_.disk.write_zeroes = (bits & 8) == 0;
    store_.disk.sector_shift = (bits & 16) != 0 ? 8 : kSectorShift;
    make();
    guest_.ledger.restart(guest_.ring.used_idx());
    blk_->ring().start(base);
  }

  void ask(Input& input) {
    static constexpr std::uint32_t kTypes[] = {kBlkIn,      kBlkOut,         kBlkFlush, kBlkGetId,
                                               kBlkDiscard, kBlkWriteZeroes, 2,         UINT32_MAX};
    const auto head = static_cast<std::uint8_t>(input.u8() % guest_.config.size);
    VirtioBlkReqHdr header{.type = kTypes[input.u8() % std::size(kTypes)]};
    const std::uint8_t place = input.u8();
    header.sector = place < 32 ? place : UINT64_MAX >> place % 64;
    const std::uint8_t length = input.u8();
    const bool in = header.type == kBlkIn || header.type == kBlkGetId;
    const bool segments = header.type == kBlkDiscard || header.type == kBlkWriteZeroes;
    std::uint32_t bytes = (length & 0x80) != 0 ? length & 0x7fu : length % 16 * 256u;
    if (segments) bytes = put_segments(head, header.sector, length);
    guest_.memory.write(0x3000u + 32u * head, header);
    const std::uint16_t direction = in ? kDescWrite : 0;
    put(head, 0, {0x3000u + 32u * head, sizeof(header), kDescNext, 0});
    put(head, 1, {data(head), bytes, static_cast<std::uint16_t>(kDescNext | direction), 0});
    put(head, 2, {0x3800u + head, 1, kDescWrite, 0});
    guest_.ring.offer(head);
  }
  // Up to three of them, the last one with flags now and then. Returns their length.
  std::uint32_t put_segments(std::uint8_t head, std::uint64_t sector, std::uint8_t length) {
    const std::uint32_t count = length % 4;
    for (std::uint32_t i = 0; i < count; ++i)
      guest_.memory.write(data(head) + i * sizeof(VirtioBlkSegment),
                          VirtioBlkSegment{sector + i, length / 4u % 16, length / 64u});
    return count * static_cast<std::uint32_t>(sizeof(VirtioBlkSegment));
  }
  static std::uint64_t data(std::uint8_t head) { return 0x4000u + 0x1000u * head; }
  void put(std::uint8_t head, unsigned index, Desc desc) {
    desc.next = static_cast<std::uint16_t>((head + index + 1u) % guest_.config.size);
    guest_.ring.desc((head + index) % guest_.config.size) = desc;
  }

  bool broken() { return blk_->ring().state().broken != RingError::kNone; }

  static constexpr std::uint32_t kMaxInFlight = 3;

  HostileGuest guest_;
  CheckedStore store_;
  CountingCaller caller_;
  std::optional<Device> blk_;  // made anew for another disk
};

}  // namespace vringlab::test
