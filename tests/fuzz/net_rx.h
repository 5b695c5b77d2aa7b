// The receive loop against a guest that writes what it likes, when it likes.
// An input is a byte of configuration and a list of operations; see NetRxFuzz::run.
#pragma once

#include "tests/double/rx_rig.h"
#include "tests/fuzz/hostile_guest.h"

namespace vringlab::test {

enum class RxOp : std::uint8_t {
  kWrite,     // u24 address, u8 count, bytes: guest memory
  kDesc,      // u8 index, u32 addr, u32 len, u8 flags, u8 next
  kOffer,     // u8 head: avail entry and index
  kAvailIdx,  // u16
  kStep,
  kArm,
  kFinish,   // end the run, as a worker does that has other work
  kRestart,  // u16 base: reset and start
  kPackets,  // u8 count, u16 bytes: arrive at the socket
  kCount
};

class NetRxFuzz {
 public:
  explicit NetRxFuzz(std::uint8_t bits)
      : guest_(bits),
        rx_(guest_.device(), socket_, caller_,
            {.dequeue_batch = 4,
             .used_batch = 3,
             .mergeable = guest_.config.third,
             .max_buffers = kMaxBuffers,
             .weight = {.packets = 6}},
            guest_.memory.regions()) {}

  void run(Input input) {
    while (!input.empty()) one(input);
    rx_.finish();
    end_of_run();
  }

 private:
  void one(Input& input) {
    switch (static_cast<RxOp>(input.u8() % static_cast<std::uint8_t>(RxOp::kCount))) {
      case RxOp::kWrite:
        return guest_.write(input);
      case RxOp::kDesc:
        return guest_.describe_buffer(input);
      case RxOp::kOffer:
        return guest_.ring.offer(input.u8());
      case RxOp::kAvailIdx:
        guest_.ring.avail_idx() = input.u16();
        return;
      case RxOp::kStep:
        return step();
      case RxOp::kArm:
        require(!rx_.arm() || !broken(), "a broken queue has no work");
        return;
      case RxOp::kFinish:
        rx_.finish();
        return end_of_run();
      case RxOp::kRestart:
        return restart(input.u16());
      case RxOp::kPackets:
        return packets(input.u8(), input.u16());
      default:
        return;
    }
  }

  void packets(std::uint32_t count, std::uint32_t bytes) {
    count %= 8;
    put_ += count;
    socket_.put(bytes % 4096, 1, count);
  }

  void step() {
    HeadLedger& ledger = guest_.ledger;
    ledger.start_step();
    const std::uint16_t base = rx_.ring().base();
    const std::uint64_t before = progress();
    const Turn turn = rx_.step();
    ledger.discard(ledger.fetched.size() - index_distance(rx_.ring().base(), base));
    require(!ledger.bad_head || turn == Turn::kBroken, "a bad head breaks the queue");
    require(turn != Turn::kBroken || broken(), "a broken queue says so");
    require(turn != Turn::kPacket || progress() > before, "no turn is for nothing");
    require(turn != Turn::kEmpty || !rx_.pending(), "a packet is not forgotten");
    require(ledger.descriptor_reads + ledger.table_bytes / sizeof(Desc) <= most_reads(),
            "the descriptors of a packet are bounded");
    require(put_ == socket_.waiting.size() + socket_.outstanding + finished(), "none is lost");
    if (turn != Turn::kPacket) end_of_run();
  }

  // Packets that are done with, in all lives of the queue.
  std::uint64_t finished() const {
    return rx_.counters().packets + rx_.counters().dropped + given_up_;
  }
  std::uint64_t progress() const { return finished() + rx_.counters().refused; }

  // Whatever was taken has been published, or given back.
  void end_of_run() { require(guest_.ledger.held.empty(), "no head is lost"); }

  void restart(std::uint16_t base) {
    given_up_ += socket_.outstanding;
    rx_.reset();
    require(socket_.outstanding == 0, "a reset keeps no packet");
    guest_.ledger.restart(guest_.ring.used_idx());
    rx_.ring().start(base);
  }

  // All that a packet may have, the chain that goes beyond it, and a head to each table.
  std::size_t most_reads() const {
    const std::size_t size = guest_.config.size;
    const std::size_t room = chain_room(size, guest_.memory.regions());
    return std::max<std::size_t>(room, kMaxBuffers) + 2 * size;
  }

  bool broken() { return rx_.ring().state().broken != RingError::kNone; }

  static constexpr std::uint32_t kMaxBuffers = 6;

  HostileGuest guest_;
  PacketQueue socket_;
  CountingCaller caller_;
  NetRx<LedgerAccess, LedgerPayload, PacketQueue, CountingCaller> rx_;
  std::uint64_t put_ = 0;       // packets that arrived
  std::uint64_t given_up_ = 0;  // by resets
};

}  // namespace vringlab::test
