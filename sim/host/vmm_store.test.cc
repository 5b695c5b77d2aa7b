#include "sim/host/vmm_store.h"

#include <gtest/gtest.h>

#include "tests/double/model_machine.h"

namespace vringlab::sim {
namespace {

constexpr std::uint32_t kRing = 16;

struct Rig {
  test::ModelMachine machine{{}};
  Core& core = machine.device_core;
  Signals signals;
  Disk disk{{.read = {1000, 5000, 0}, .write = {1000, 5000, 0}, .flush_ps = 9000}, {}};
  std::vector<std::byte> bytes_memory = std::vector<std::byte>(kRing * 4096);
  BlkBytes bytes{bytes_memory};
  HostFile file{&disk, {.capacity_bytes = kRing * 4096}, 2};
  PoolState pool_state;
  Group<PoolThread> threads;
  ThreadPool pool{threads, pool_state};
  VmmStore store;
  ModelPayload payload{machine.context, machine.memory};
  std::vector<Piece> pieces = std::vector<Piece>(kRing);

  explicit Rig(const VmmStoreConfig& config, bool ram = false)
      : store(machine.context, ram ? nullptr : &disk, pool, bytes, 3, kRing, config) {
    for (std::uint16_t i = 0; i < 2; ++i)
      threads.add(i == 0 ? machine.driver_core : machine.control_core, signals, file, pool_state,
                  i);
  }

  Submitted submit(std::uint16_t slot, BlkOp op, std::uint64_t block, std::uint32_t len = 4096) {
    pieces[slot] = {machine.bytes.data() + slot * 4096u, len};
    BlkStatus status = BlkStatus::kOk;
    return store.submit(payload,
                        {.slot = slot,
                         .op = op,
                         .offset_bytes = block * 4096,
                         .bytes = len,
                         .pieces = {&pieces[slot], 1}},
                        status);
  }
  void write(std::uint16_t slot, std::uint64_t block) { submit(slot, BlkOp::kWrite, block); }
  // How often an operation ran, by the first of its costs.
  std::uint64_t occurrences_of(Op op) const {
    const Operation::Part& part = machine.operations[operation_index(op)].parts.front();
    return test::occurrences(core, part.cost, part.step) / part.count;
  }
  // Slots that a completion covers.
  std::vector<std::uint16_t> chain(std::uint16_t slot) {
    std::vector<std::uint16_t> slots;
    for (; slot != VmmStore::kLast; slot = store.done(slot)) slots.push_back(slot);
    return slots;
  }
};

using Slots = std::vector<std::uint16_t>;

TEST(VmmStore, adjacent_writes_of_a_batch_are_one) {
  Rig rig({.engine = IoEngine::kAio});
  for (std::uint16_t i = 0; i < 3; ++i) rig.write(i, 4u + i);
  EXPECT_EQ(rig.store.merged(), 2u);
  rig.store.end_batch();
  rig.disk.step();
  EXPECT_TRUE(rig.disk.completed());
  EXPECT_EQ(rig.chain(rig.disk.take().slot), (Slots{0, 1, 2}));
  EXPECT_EQ(rig.disk.counters().requests, 1u);
  EXPECT_EQ(rig.disk.counters().write_bytes, 3u * 4096);
}

TEST(VmmStore, what_is_not_adjacent_or_not_a_write_is_not_merged) {
  Rig rig({.engine = IoEngine::kAio});
  rig.write(0, 4);
  rig.write(1, 6);                     // a gap
  rig.write(2, 5);                     // behind the one before the last
  rig.submit(3, BlkOp::kRead, 6);      // a read
  rig.submit(4, BlkOp::kRead, 7);      // reads never
  rig.write(5, 8);                     // a write behind a read
  rig.submit(6, BlkOp::kFlush, 0, 0);  // a flush
  rig.write(7, 0);
  EXPECT_EQ(rig.store.merged(), 0u);
}

TEST(VmmStore, a_batch_ends_what_can_be_merged) {
  Rig rig({.engine = IoEngine::kAio});
  rig.write(0, 4);
  rig.store.end_batch();
  rig.write(1, 5);
  EXPECT_EQ(rig.store.merged(), 0u);
}

TEST(VmmStore, merges_no_more_than_the_limit) {
  Rig exact({.engine = IoEngine::kAio, .merge_bytes = 2 * 4096});
  for (std::uint16_t i = 0; i < 4; ++i) exact.write(i, i);
  EXPECT_EQ(exact.store.merged(), 2u);  // two of two
  Rig less({.engine = IoEngine::kAio, .merge_bytes = 2 * 4096 - 1});
  for (std::uint16_t i = 0; i < 4; ++i) less.write(i, i);
  EXPECT_EQ(less.store.merged(), 0u);
  Rig off({.engine = IoEngine::kAio, .merge_writes = false});
  for (std::uint16_t i = 0; i < 4; ++i) off.write(i, i);
  EXPECT_EQ(off.store.merged(), 0u);
}

TEST(VmmStore, every_one_of_merged_writes_moves_its_bytes) {
  Rig rig({.engine = IoEngine::kUring});
  for (std::uint16_t i = 0; i < 3; ++i) {
    rig.machine.bytes[i * 4096u] = std::byte(i + 1);
    rig.write(i, 4u + i);
  }
  rig.store.end_batch();
  EXPECT_EQ(rig.bytes_memory[4 * 4096], std::byte{0});
  rig.chain(0);
  for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(rig.bytes_memory[(4 + i) * 4096], std::byte(i + 1));
}

TEST(VmmStore, a_batch_of_aio_is_one_system_call) {
  for (const IoEngine engine : {IoEngine::kAio, IoEngine::kUring}) {
    Rig rig({.engine = engine});
    for (std::uint16_t i = 0; i < 5; ++i) rig.submit(i, BlkOp::kRead, 2u * i);
    EXPECT_FALSE(rig.disk.runnable());  // not before the batch ends
    rig.store.end_batch();
    EXPECT_EQ(rig.occurrences_of(Op::kAioCall), 1u);
    EXPECT_EQ(rig.occurrences_of(engine == IoEngine::kAio ? Op::kAioRequest : Op::kUringRequest),
              5u);
    EXPECT_EQ(rig.occurrences_of(Op::kBioSubmit), 5u);
    rig.store.end_batch();  // nothing to begin
    EXPECT_EQ(rig.occurrences_of(Op::kAioCall), 1u);
  }
}

TEST(VmmStore, a_ram_disk_is_done_when_it_is_submitted) {
  Rig rig({.engine = IoEngine::kAio}, true);
  rig.submit(0, BlkOp::kRead, 1);
  rig.submit(1, BlkOp::kRead, 5);
  EXPECT_FALSE(rig.store.any_at_once());
  rig.store.end_batch();
  Slots done;
  while (rig.store.any_at_once()) done.push_back(rig.store.take_at_once());
  EXPECT_EQ(done, (Slots{0, 1}));
  EXPECT_FALSE(rig.disk.runnable());
}

TEST(VmmStore, threads_that_sleep_are_woken_for_a_request_each) {
  Rig rig({.engine = IoEngine::kThreads});
  for (std::uint16_t i = 0; i < 3; ++i) rig.submit(i, BlkOp::kRead, 2u * i);
  EXPECT_FALSE(rig.threads[0].runnable());
  rig.store.end_batch();
  EXPECT_TRUE(rig.threads[0].runnable());
  EXPECT_TRUE(rig.threads[1].runnable());
  EXPECT_EQ(rig.pool_state.count, 3u);
  EXPECT_EQ(rig.occurrences_of(Op::kThreadHandoff), 3u);
}

TEST(ThreadPool, a_thread_takes_the_next_when_it_has_done) {
  Rig rig({.engine = IoEngine::kThreads});
  for (std::uint16_t i = 0; i < 3; ++i) rig.submit(i, BlkOp::kRead, 2u * i);
  rig.store.end_batch();
  Slots done;
  for (int i = 0; i < 100 && done.size() < 3; ++i) {
    if (rig.threads.runnable()) {
      rig.threads.step();
    } else if (rig.disk.runnable()) {
      rig.disk.step();
    }
    while (rig.disk.completed()) {
      const DiskClient client = rig.disk.take();
      rig.file.disk_done(client, &rig.threads[client.index].op());
    }
    while (rig.file.any_woken()) rig.threads[rig.file.take_woken()].resume(rig.disk.core().now());
    for (const PoolDone& one : rig.pool_state.done) {
      EXPECT_EQ(one.job.queue, 3u);
      done.push_back(one.job.first_slot);
    }
    rig.pool_state.done.clear();
  }
  EXPECT_EQ(done, (Slots{0, 1, 2}));
  EXPECT_EQ(rig.pool_state.count, 0u);
  while (rig.threads.runnable()) rig.threads.step();
  EXPECT_TRUE(rig.threads[0].idle());
  EXPECT_TRUE(rig.threads[1].idle());
}

TEST(PoolState, is_a_ring_that_grows_and_keeps_its_order) {
  PoolState pool;
  std::uint64_t pushed = 0;
  std::uint64_t popped = 0;
  const auto push = [&](int times) {
    for (; times > 0; --times) pool.push({.offset = pushed++});
  };
  const auto pop = [&](int times) {
    for (; times > 0; --times) ASSERT_EQ(pool.pop().offset, popped++);
  };
  push(64);
  pop(40);
  push(40);  // full, and round the end
  push(1);   // grows
  pop(30);
  push(200);
  pop(static_cast<int>(pool.count));
  EXPECT_EQ(popped, pushed);
}

}  // namespace
}  // namespace vringlab::sim
