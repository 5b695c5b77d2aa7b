#include "core/device/blk.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "tests/double/blk_rig.h"
#include "tests/double/pending_store.h"
#include "tests/double/spy_access.h"

namespace vringlab {
namespace {

using test::ask_flush;
using test::ask_read;
using test::ask_segments;
using test::ask_write;
using test::blk_pattern;
using test::BlkAsk;
using test::BlkRig;
using test::BlkShape;
using test::kBlkShapes;
using test::kEventIdx;
using test::PendingStore;

constexpr std::uint64_t kCapacity = 64;  // sectors
constexpr BlkDisk kDisk{.capacity_sectors = kCapacity, .id = {'v', 'd', 'i', 's', 'k'}};
constexpr int kUnwritten = std::to_integer<int>(test::kNoStatus);

std::vector<UsedElem> used_of(test::RawRing& ring) {
  std::vector<UsedElem> used;
  for (std::uint16_t i = 0; i != ring.used_idx(); ++i) used.push_back(ring.used(i));
  return used;
}

// A queue before a disk whose bytes all differ from their neighbours.
struct MemoryRig {
  std::vector<std::byte> disk = blk_pattern(kCapacity * kSectorBytes, 100);
  MemoryStore store{disk};
  BlkRig<MemoryStore> rig;

  explicit MemoryRig(const BlkConfig& config = {.disk = kDisk}, std::uint64_t features = 0)
      : rig(store, config, 64, features) {}

  std::vector<std::byte> on_disk(std::uint64_t sector, std::size_t bytes) const {
    const auto at = disk.begin() + static_cast<std::ptrdiff_t>(sector * kSectorBytes);
    return {at, at + static_cast<std::ptrdiff_t>(bytes)};
  }
  // The status of one request, served alone.
  int serve(const BlkAsk& ask) {
    rig.offer(0, ask);
    EXPECT_EQ(rig.run(), Turn::kEmpty);
    return rig.status(0, ask);
  }
};

TEST(Blk, a_read_from_avail_entry_to_used_element) {
  MemoryRig host;
  const BlkAsk ask = ask_read(3, 1024);
  host.rig.offer(5, ask);
  EXPECT_EQ(host.rig.blk.step(), Turn::kPacket);
  EXPECT_EQ(host.rig.status(5, ask), kBlkStatusOk);
  EXPECT_EQ(host.rig.data(5, ask), host.on_disk(3, 1024));
  EXPECT_EQ(used_of(host.rig.ring), (std::vector<UsedElem>{{5, 1025}}));
  EXPECT_EQ(host.rig.caller.calls, 1);
  EXPECT_EQ(host.rig.blk.step(), Turn::kEmpty);
  EXPECT_EQ(host.rig.blk.counters().completed, 1u);
  EXPECT_EQ(host.rig.blk.counters().read_bytes, 1024u);
  EXPECT_EQ(host.rig.blk.pending(), 0);
}

TEST(Blk, a_write_says_that_one_byte_was_written) {
  MemoryRig host;
  const auto before = host.disk;
  const BlkAsk ask = ask_write(63, blk_pattern(512, 7));
  EXPECT_EQ(host.serve(ask), kBlkStatusOk);
  EXPECT_EQ(host.on_disk(63, 512), blk_pattern(512, 7));
  EXPECT_TRUE(std::equal(before.begin(), before.end() - 512, host.disk.begin()));
  EXPECT_EQ(used_of(host.rig.ring), (std::vector<UsedElem>{{0, 1}}));
  EXPECT_EQ(host.rig.blk.counters().written_bytes, 512u);
}

TEST(Blk, b5_the_same_requests_in_all_layouts) {
  for (const BlkShape shape : kBlkShapes) {
    for (const bool indirect : {false, true}) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(shape) << " indirect " << indirect);
      MemoryRig host;
      BlkAsk write = ask_write(4, blk_pattern(2048, 9));
      BlkAsk read = ask_read(3, 3072);
      write.shape = read.shape = shape;
      write.indirect = read.indirect = indirect;
      for (const std::uint16_t head :
           {std::uint16_t{0}, std::uint16_t{8}}) {  // the buffers of 8 lie in two regions
        write.out.front() = std::byte(head);
        host.rig.offer(head, write);
        const auto reader = static_cast<std::uint16_t>(head + 16);
        host.rig.offer(reader, read);
        ASSERT_EQ(host.rig.run(), Turn::kEmpty);
        EXPECT_EQ(host.rig.status(head, write), kBlkStatusOk);
        EXPECT_EQ(host.on_disk(4, 2048), write.out);
        EXPECT_EQ(host.rig.data(reader, read), host.on_disk(3, 3072));
      }
      EXPECT_EQ(used_of(host.rig.ring),
                (std::vector<UsedElem>{{0, 1}, {16, 3073}, {8, 1}, {24, 3073}}));
    }
  }
}

TEST(Blk, b8_identity) {
  MemoryRig host;
  for (const std::uint32_t room : {0u, 10u, 20u, 30u}) {
    const BlkAsk ask{.type = kBlkGetId, .in_bytes = room};
    EXPECT_EQ(host.serve(ask), kBlkStatusOk);
    const auto name = host.rig.data(0, ask);
    for (std::uint32_t i = 0; i < room; ++i)
      EXPECT_EQ(std::to_integer<char>(name[i]), i < 20 ? kDisk.id[i] : '\0') << i;
    EXPECT_EQ(used_of(host.rig.ring).back().len, std::min(room, 20u) + 1);
  }
  EXPECT_EQ(host.rig.blk.counters().read_bytes, 0u);
}

TEST(Blk, discards_and_write_zeroes_of_several_segments) {
  for (const std::uint32_t type : {kBlkDiscard, kBlkWriteZeroes}) {
    for (const BlkShape shape : kBlkShapes) {
      MemoryRig host;
      const auto before = host.disk;
      BlkAsk ask = ask_segments(type, {{1, 2, 0}, {10, 0, 0}, {20, 44, 0}});
      ask.shape = shape;
      EXPECT_EQ(host.serve(ask), kBlkStatusOk);
      EXPECT_EQ(used_of(host.rig.ring), (std::vector<UsedElem>{{0, 1}}));
      for (std::size_t at = 0; at < host.disk.size(); ++at) {
        const std::size_t sector = at / kSectorBytes;
        const bool zeroed = sector == 1 || sector == 2 || sector >= 20;
        ASSERT_EQ(host.disk[at], zeroed ? std::byte{0} : before[at]) << at;
      }
    }
  }
}

TEST(Blk, no_segment_has_an_effect_if_one_is_wrong) {
  MemoryRig host;
  const auto before = host.disk;
  EXPECT_EQ(host.serve(ask_segments(kBlkDiscard, {{1, 2, 0}, {20, 45, 0}})), kBlkStatusIoErr);
  EXPECT_EQ(host.serve(ask_segments(kBlkDiscard, {{1, 2, 0}, {20, 1, 1}})), kBlkStatusUnsupp);
  EXPECT_EQ(host.serve(ask_segments(kBlkWriteZeroes, {{1, 2, 1}, {20, 1, 2}})), kBlkStatusUnsupp);
  EXPECT_EQ(host.serve(ask_segments(kBlkDiscard, {})), kBlkStatusIoErr);
  const std::vector<VirtioBlkSegment> many(17, {1, 1, 0});
  EXPECT_EQ(host.serve(ask_segments(kBlkDiscard, many)), kBlkStatusIoErr);
  EXPECT_EQ(host.disk, before);
  EXPECT_EQ(host.rig.blk.counters().errors, 5u);
  EXPECT_EQ(host.serve(ask_segments(kBlkDiscard, {many.begin(), many.end() - 1})), kBlkStatusOk);
}

TEST(Blk, a_shift_of_8_lets_neighbours_overlap) {
  BlkConfig config{.disk = kDisk};
  config.disk.sector_shift = 8;
  MemoryRig host(config);
  host.serve(ask_write(0, blk_pattern(512, 1)));
  host.serve(ask_write(1, blk_pattern(512, 60)));
  const BlkAsk read = ask_read(0, 512);
  EXPECT_EQ(host.serve(read), kBlkStatusOk);
  auto mixed = blk_pattern(512, 1);
  const auto second = blk_pattern(256, 60);
  std::ranges::copy(second, mixed.begin() + 256);
  EXPECT_EQ(host.rig.data(0, read), mixed);
  EXPECT_EQ(host.serve(ask_read(64, 512)), kBlkStatusIoErr);
}

TEST(Blk, publishes_and_calls_once_a_batch) {
  MemoryRig host({.disk = kDisk, .used_batch = 3});
  for (std::uint16_t i = 0; i < 7; ++i) host.rig.offer(i * 8, ask_read(i, 512));
  const std::uint16_t published[] = {0, 0, 3, 3, 3, 6, 6};
  for (const std::uint16_t idx : published) {
    EXPECT_EQ(host.rig.blk.step(), Turn::kPacket);
    EXPECT_EQ(host.rig.ring.used_idx(), idx);
  }
  EXPECT_EQ(host.rig.caller.calls, 2);
  EXPECT_EQ(host.rig.blk.step(), Turn::kEmpty);
  EXPECT_EQ(host.rig.ring.used_idx(), 7);
  EXPECT_EQ(host.rig.blk.counters().calls, 3u);
}

TEST(Blk, n06_one_call_for_many_requests) {
  MemoryRig host({.disk = kDisk, .used_batch = 64});
  for (std::uint16_t i = 0; i < 8; ++i) host.rig.offer(i * 8, ask_read(i, 512));
  EXPECT_EQ(host.rig.run(), Turn::kEmpty);
  EXPECT_EQ(host.rig.ring.used_idx(), 8);
  EXPECT_EQ(host.rig.caller.calls, 1);
}

TEST(Blk, n02_calls_nobody_who_wants_none) {
  MemoryRig host({.disk = kDisk}, kEventIdx);
  host.rig.ring.used_event() = 3;
  for (std::uint16_t i = 0; i < 6; ++i) host.rig.offer(i * 8, ask_read(i, 512));
  host.rig.run();
  EXPECT_EQ(host.rig.caller.calls, 2);  // the first one always, and that of index 3
  MemoryRig silent;
  silent.rig.ring.avail_flags() = kAvailNoInterrupt;
  silent.serve(ask_read(0, 512));
  EXPECT_EQ(silent.rig.caller.calls, 0);
}

TEST(Blk, i02_is_capped_by_requests) {
  MemoryRig host({.disk = kDisk, .used_batch = 64, .weight = 3});
  for (std::uint16_t i = 0; i < 4; ++i) host.rig.offer(i * 8, ask_read(i, 512));
  EXPECT_EQ(host.rig.blk.step(), Turn::kPacket);
  EXPECT_EQ(host.rig.blk.step(), Turn::kPacket);
  EXPECT_EQ(host.rig.blk.step(), Turn::kYield);
  EXPECT_EQ(host.rig.ring.used_idx(), 3);  // nothing is kept back
  EXPECT_TRUE(host.rig.blk.arm());
  EXPECT_TRUE(host.rig.blk.work_pending());
  EXPECT_EQ(host.rig.blk.step(), Turn::kPacket);
  EXPECT_EQ(host.rig.blk.step(), Turn::kEmpty);
  EXPECT_FALSE(host.rig.blk.arm());
  EXPECT_FALSE(host.rig.blk.work_pending());
}

TEST(Blk, asks_for_no_kicks_while_it_runs) {
  MemoryRig host;
  host.rig.offer(0, ask_read(0, 512));
  host.rig.blk.step();
  EXPECT_EQ(host.rig.ring.used_flags(), kUsedNoNotify);
  host.rig.blk.finish();
  EXPECT_FALSE(host.rig.blk.arm());
  EXPECT_EQ(host.rig.ring.used_flags(), 0);
  host.rig.offer(8, ask_read(0, 512));
  EXPECT_TRUE(host.rig.blk.arm());
}

// The status byte is the last that is written: what comes before it in a buffer has been.
TEST(Blk, the_status_is_written_last) {
  struct Order {
    std::vector<std::uint32_t> lengths;
  } order;
  struct Payload : DirectPayload {
    Payload(const GuestMemory& memory, Order& o) : DirectPayload(memory), order(&o) {}
    void copy_out(Transfer what, std::byte* host, const std::byte* source, std::uint32_t len) {
      order->lengths.push_back(len);
      DirectPayload::copy_out(what, host, source, len);
    }
    Order* order;
  };
  MemoryRig host;
  Blk<DirectAccess, Payload, MemoryStore, test::CountingCaller> blk(
      {DirectAccess(host.rig.ring.areas), Payload(host.rig.guest.memory(), order),
       host.rig.ring.config},
      host.store, host.rig.caller, {.disk = kDisk}, 2);
  host.rig.offer(0, ask_read(0, 1024));
  host.rig.offer(8, {.type = kBlkGetId, .in_bytes = 20});
  blk.step();
  blk.step();
  EXPECT_EQ(order.lengths, (std::vector<std::uint32_t>{1024, 1, 20, 1}));
}

// A disk in memory whose requests complete when the test says.
struct PendingRig {
  std::vector<std::byte> disk = blk_pattern(kCapacity * kSectorBytes, 100);
  PendingStore store{.memory = MemoryStore(disk)};
  BlkRig<PendingStore> rig;

  explicit PendingRig(const BlkConfig& config = {.disk = kDisk}) : rig(store, config) {}

  void offer_reads(std::uint16_t count) {
    for (std::uint16_t i = 0; i < count; ++i) rig.offer(i * 8, ask_read(i, 512));
  }
  std::uint16_t complete(std::size_t which) {
    BlkIo io;
    const BlkStatus status = store.finish(rig.blk.ring().payload(), which, io);
    rig.blk.complete(io.slot, status);
    return io.slot;
  }
};

TEST(BlkPending, completes_in_any_order) {
  std::vector<std::size_t> order(4);
  std::iota(order.begin(), order.end(), 0u);
  do {
    PendingRig host;
    host.offer_reads(4);
    EXPECT_EQ(host.rig.run(), Turn::kEmpty);
    EXPECT_EQ(host.rig.blk.pending(), 4);
    EXPECT_EQ(host.rig.ring.used_idx(), 0);
    EXPECT_EQ(host.store.batches, 1);
    const std::vector<BlkIo> held = host.store.held;
    for (std::size_t i = 0; i < 4; ++i) {
      const BlkIo& io = held[order[i]];
      const auto at = std::ranges::find(host.store.held, io.slot, &BlkIo::slot);
      EXPECT_EQ(host.rig.status(io.slot, ask_read(0, 512)), kUnwritten);
      host.complete(static_cast<std::size_t>(at - host.store.held.begin()));
      EXPECT_EQ(host.rig.status(io.slot, ask_read(0, 512)), kBlkStatusOk);
      EXPECT_EQ(host.rig.data(io.slot, ask_read(0, 512)),
                blk_pattern(512, 100 + 512 * static_cast<unsigned>(order[i])));
      EXPECT_EQ(used_of(host.rig.ring).back(), (UsedElem{io.slot, 513}));
    }
    EXPECT_EQ(host.rig.blk.pending(), 0);
  } while (std::ranges::next_permutation(order).found);
}

TEST(BlkPending, completions_are_published_in_batches) {
  PendingRig host({.disk = kDisk, .used_batch = 3});
  host.offer_reads(5);
  host.rig.run();
  host.complete(1);
  host.complete(0);
  EXPECT_EQ(host.rig.ring.used_idx(), 0);
  EXPECT_TRUE(host.rig.blk.finished());
  EXPECT_TRUE(host.rig.blk.arm());
  EXPECT_TRUE(host.rig.blk.work_pending());
  host.complete(2);
  EXPECT_EQ(host.rig.ring.used_idx(), 3);
  EXPECT_EQ(host.rig.caller.calls, 1);
  EXPECT_FALSE(host.rig.blk.arm());
  host.complete(0);
  host.complete(0);
  EXPECT_EQ(host.rig.ring.used_idx(), 3);
  host.rig.blk.flush();
  EXPECT_EQ(host.rig.ring.used_idx(), 5);
  EXPECT_EQ(host.rig.caller.calls, 2);
  host.rig.blk.flush();
  EXPECT_EQ(host.rig.caller.calls, 2);
}

TEST(BlkPending, a_store_without_room_ends_the_run) {
  PendingRig host;
  host.store.room = 2;
  host.offer_reads(4);
  EXPECT_EQ(host.rig.run(), Turn::kEmpty);
  EXPECT_EQ(host.rig.blk.counters().taken, 2u);
  EXPECT_EQ(host.rig.blk.counters().busy, 1u);
  EXPECT_EQ(host.rig.blk.ring().base(), 2);
  EXPECT_EQ(host.store.batches, 1);  // it is told to begin, or there would never be room
  EXPECT_TRUE(host.rig.blk.blocked());
  EXPECT_FALSE(host.rig.blk.arm());  // nothing to be done until something completes
  EXPECT_FALSE(host.rig.blk.work_pending());
  EXPECT_EQ(host.rig.run(), Turn::kEmpty);
  host.complete(0);
  EXPECT_TRUE(host.rig.blk.work_pending());
  EXPECT_TRUE(host.rig.blk.arm());
  EXPECT_EQ(host.rig.run(), Turn::kEmpty);
  EXPECT_EQ(host.rig.blk.counters().taken, 3u);
  host.complete(0);
  host.complete(0);
  host.rig.run();
  host.complete(0);
  EXPECT_EQ(host.rig.blk.counters().completed, 4u);
  EXPECT_FALSE(host.rig.blk.arm());
  for (std::uint16_t i = 0; i < 4; ++i)
    EXPECT_EQ(host.rig.data(i * 8, ask_read(i, 512)), blk_pattern(512, 100 + 512u * i)) << i;
}

// What was put back is laid out anew: nothing of the first look is left.
TEST(BlkPending, a_request_put_back_is_the_same_later) {
  for (const BlkShape shape : kBlkShapes) {
    PendingRig host;
    host.store.room = 0;
    BlkAsk write = ask_write(2, blk_pattern(1024, 5));
    BlkAsk discard = ask_segments(kBlkDiscard, {{8, 1, 0}, {9, 1, 0}});
    write.shape = discard.shape = shape;
    host.rig.offer(8, write);
    host.rig.offer(16, discard);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(host.rig.run(), Turn::kEmpty);
    EXPECT_EQ(host.rig.status(8, write), kUnwritten);
    host.store.room = 1;
    host.rig.run();
    host.complete(0);
    host.rig.run();
    host.complete(0);
    EXPECT_EQ(host.rig.status(16, discard), kBlkStatusOk);
    EXPECT_TRUE(std::ranges::equal(std::span(host.disk).subspan(1024, 1024), write.out));
    EXPECT_EQ(host.disk[8 * 512], std::byte{0});
    EXPECT_EQ(host.disk[10 * 512 - 1], std::byte{0});
  }
}

TEST(BlkPending, no_more_in_flight_than_configured) {
  PendingRig host({.disk = kDisk, .max_in_flight = 3});
  host.offer_reads(5);
  EXPECT_EQ(host.rig.run(), Turn::kEmpty);
  EXPECT_EQ(host.rig.blk.pending(), 3);
  EXPECT_FALSE(host.rig.blk.arm());
  host.complete(2);
  host.complete(0);
  EXPECT_EQ(host.rig.run(), Turn::kEmpty);
  EXPECT_EQ(host.rig.blk.pending(), 3);
  while (!host.store.held.empty()) host.complete(0);
  for (std::uint16_t i = 0; i < 5; ++i)
    EXPECT_EQ(host.rig.data(i * 8, ask_read(i, 512)), blk_pattern(512, 100 + 512u * i)) << i;
}

TEST(BlkPending, a_failed_request_says_so) {
  PendingRig host;
  host.offer_reads(1);
  host.rig.run();
  host.rig.blk.complete(0, BlkStatus::kIoErr);
  EXPECT_EQ(host.rig.status(0, ask_read(0, 512)), kBlkStatusIoErr);
  EXPECT_EQ(used_of(host.rig.ring), (std::vector<UsedElem>{{0, 1}}));
  EXPECT_EQ(host.rig.blk.counters().errors, 1u);
  EXPECT_EQ(host.rig.blk.counters().read_bytes, 0u);
}

TEST(BlkPending, may_complete_before_submit_returns) {
  PendingRig host({.disk = kDisk, .max_in_flight = 1});
  host.store.on_submit = [&](const BlkIo& io) {
    BlkStatus status = BlkStatus::kIoErr;
    host.store.memory.submit(host.rig.blk.ring().payload(), io, status);
    host.rig.blk.complete(io.slot, status);
  };
  host.offer_reads(4);
  EXPECT_EQ(host.rig.run(), Turn::kEmpty);
  EXPECT_EQ(host.rig.ring.used_idx(), 4);
  EXPECT_EQ(host.rig.data(24, ask_read(3, 512)), blk_pattern(512, 100 + 512u * 3));
}

TEST(BlkPending, d05_a_reset_waits_for_the_store) {
  PendingRig host({.disk = kDisk, .used_batch = 8});
  host.offer_reads(3);
  host.rig.run();
  host.complete(0);
  host.complete(0);
  EXPECT_FALSE(host.rig.blk.reset());
  EXPECT_EQ(host.rig.blk.ring().base(), 3);  // nothing was done
  host.complete(0);
  EXPECT_TRUE(host.rig.blk.reset());
  host.rig.blk.finish();
  EXPECT_EQ(host.rig.ring.used_idx(), 0);  // what was not published never is
  EXPECT_EQ(host.rig.caller.calls, 0);
  host.rig.ring.avail_idx() = 0;
  host.rig.blk.ring().start(0);
  host.offer_reads(2);
  EXPECT_EQ(host.rig.run(), Turn::kEmpty);
  EXPECT_EQ(host.rig.blk.pending(), 2);
}

TEST(BlkPending, what_a_broken_queue_had_in_flight_comes_back) {
  PendingRig host;
  host.offer_reads(2);
  host.rig.ring.offer(0);  // in flight already
  host.rig.ring.offer(16);
  EXPECT_EQ(host.rig.run(), Turn::kBroken);
  EXPECT_EQ(host.rig.blk.pending(), 2);
  EXPECT_EQ(host.store.batches, 1);
  host.complete(1);
  host.complete(0);
  EXPECT_EQ(host.rig.ring.used_idx(), 2);
  EXPECT_FALSE(host.rig.blk.arm());
  EXPECT_FALSE(host.rig.blk.work_pending());
  EXPECT_EQ(host.rig.blk.step(), Turn::kEmpty);
}

TEST(BlkPending, begins_once_a_run_and_only_with_something) {
  PendingRig host;
  EXPECT_EQ(host.rig.run(), Turn::kEmpty);
  EXPECT_EQ(host.store.batches, 0);
  host.offer_reads(3);
  host.rig.run();
  EXPECT_EQ(host.store.batches, 1);
  host.rig.run();
  EXPECT_EQ(host.store.batches, 1);
}

}  // namespace
}  // namespace vringlab
