// The same random traces on every disk there is: what the driver sees and what is left on the disk
// must be what the reference says.
#include "tests/double/blk_trace.h"

#include <gtest/gtest.h>

#include <map>

#include "core/backend/blk/file_store.h"
#include "core/backend/blk/uring_store.h"
#include "tests/double/model_blk.h"
#include "tests/double/pending_store.h"
#include "tests/double/temp_file.h"

namespace vringlab {
namespace {

using test::BlkOutcome;
using test::BlkReference;
using test::BlkRig;
using test::BlkTrace;
using test::BlkTraceMaker;
using test::kBlkTraceDisk;
using test::PendingStore;
using test::TempFile;

constexpr std::size_t kTraceBytes = test::kBlkTraceSectors * kSectorBytes;
constexpr std::size_t kBatches = 40;

BlkConfig any_config(std::uint64_t seed) {
  return {.disk = kBlkTraceDisk,
          .used_batch = static_cast<std::uint32_t>(1 + seed % 3 * 3),
          .max_in_flight = static_cast<std::uint32_t>(1 + seed % 4 * 3),
          .weight = static_cast<std::uint32_t>(seed % 5 == 0 ? 2 : 256)};
}

void expect_equal(const std::vector<BlkOutcome>& got, const std::vector<BlkOutcome>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].status, expected[i].status) << "request " << i;
    EXPECT_EQ(got[i].used_bytes, expected[i].used_bytes) << "request " << i;
    EXPECT_TRUE(got[i].data == expected[i].data) << "request " << i;
  }
}

// What a disk made of a trace.
struct Left {
  std::vector<BlkOutcome> outcomes;
  std::vector<std::byte> bytes;
};

Left on_memory(const BlkTrace& trace, std::uint64_t seed) {
  std::vector<std::byte> disk(kTraceBytes);
  MemoryStore store(disk);
  BlkRig<MemoryStore> rig(store, any_config(seed));
  auto outcomes = test::play_trace(rig, trace, [](auto&) {});
  return {outcomes, disk};
}

// Completes what is pending in an order of its own.
Left on_pending(const BlkTrace& trace, std::uint64_t seed) {
  std::vector<std::byte> disk(kTraceBytes);
  PendingStore store{.memory = MemoryStore(disk), .room = 1 + seed % 6};
  BlkRig<PendingStore> rig(store, any_config(seed));
  std::mt19937_64 random(seed);
  auto outcomes = test::play_trace(rig, trace, [&](auto& blk) {
    if (!store.held.empty()) {
      BlkIo io;
      const BlkStatus status = store.finish(blk.ring().payload(), random() % store.held.size(), io);
      blk.complete(io.slot, status);
    }
    if (random() % 2 == 0) blk.flush();
  });
  return {outcomes, disk};
}

Left on_file(const BlkTrace& trace, std::uint64_t seed) {
  const TempFile temp(kTraceBytes);
  PosixFile file(temp.fd());
  FileStore<PosixFile> store(file);
  BlkRig<FileStore<PosixFile>> rig(store, any_config(seed));
  auto outcomes = test::play_trace(rig, trace, [](auto&) {});
  return {outcomes, temp.read()};
}

Left on_uring(const BlkTrace& trace, std::uint64_t seed) {
  const TempFile temp(kTraceBytes);
  UringStore store(temp.fd(), static_cast<std::uint32_t>(1 + seed % 8));
  BlkRig<UringStore> rig(store, any_config(seed));
  auto outcomes = test::play_trace(rig, trace, [&](auto& blk) {
    store.wait();
    store.reap([&](std::uint16_t slot, BlkStatus status) { blk.complete(slot, status); });
    blk.flush();
  });
  return {outcomes, temp.read()};
}

// The simulated stores, through the simulated machine.
Left on_simulated_bio(const BlkTrace& trace, std::uint64_t seed) {
  test::ModelMachine machine({});
  test::ModelDisk disk(machine, kTraceBytes, sim::CacheMode::kNone,
                       static_cast<std::uint32_t>(1 + seed % 3));
  const bool ram = seed % 4 == 0;
  sim::BioStore store(machine.context, ram ? nullptr : &disk.disk, disk.bytes, 0, 64);
  test::ModelBlkRig<sim::BioStore> rig(store, any_config(seed), 64, 0, {&machine});
  auto outcomes = test::play_trace(rig, trace, [&](auto& blk) {
    disk.complete([](auto) { return nullptr; },
                  [&](std::uint16_t slot) {
                    store.done(slot);
                    blk.complete(slot, BlkStatus::kOk);
                  },
                  [](auto) {});
    blk.flush();
  });
  return {outcomes, disk.memory};
}

Left on_simulated_file(const BlkTrace& trace, sim::CacheMode mode, std::uint64_t seed) {
  test::ModelMachine machine({});
  test::ModelDisk disk(machine, kTraceBytes, mode, 4);
  sim::FileStore store(machine.context, disk.file, disk.bytes, 1);
  BlkConfig config = any_config(seed);
  config.max_in_flight = 1;
  test::ModelBlkRig<sim::FileStore> rig(store, config, 64, 0, {&machine});
  auto outcomes = test::play_trace(rig, trace, [&](auto& blk) {
    disk.complete([&](auto) { return &store.op(); }, [](auto) {},
                  [&](std::uint32_t thread) {
                    EXPECT_EQ(thread, 1u);
                    if (store.go_on()) blk.complete(store.slot(), BlkStatus::kOk);
                  });
    blk.flush();
  });
  return {outcomes, disk.memory};
}
Left on_simulated_file_written_back(const BlkTrace& trace, std::uint64_t seed) {
  return on_simulated_file(trace, sim::CacheMode::kWriteBack, seed);
}
Left on_simulated_file_written_through(const BlkTrace& trace, std::uint64_t seed) {
  return on_simulated_file(trace, sim::CacheMode::kWriteThrough, seed);
}

Left on_simulated_vmm(const BlkTrace& trace, sim::IoEngine engine, sim::CacheMode mode,
                      std::uint64_t seed) {
  test::ModelMachine machine({});
  test::ModelDisk disk(machine, kTraceBytes, mode, static_cast<std::uint32_t>(1 + seed % 3));
  const bool ram = seed % 4 == 0 && engine != sim::IoEngine::kThreads;
  sim::VmmStore store(machine.context, ram ? nullptr : &disk.disk, disk.pool, disk.bytes, 0, 64,
                      {.engine = engine, .merge_writes = seed % 5 != 0, .merge_bytes = 4096});
  test::ModelBlkRig<sim::VmmStore> rig(store, any_config(seed), 64, 0, {&machine});
  auto outcomes = test::play_trace(rig, trace, [&](auto& blk) {
    const auto done = [&](std::uint16_t slot) {
      while (slot != sim::VmmStore::kLast) {
        const std::uint16_t next = store.done(slot);
        blk.complete(slot, BlkStatus::kOk);
        slot = next;
      }
    };
    while (store.any_at_once()) done(store.take_at_once());
    while (disk.threads.runnable()) disk.threads.step();
    disk.complete([&](std::uint32_t thread) { return &disk.threads[thread].op(); }, done,
                  [&](std::uint32_t thread) { disk.threads[thread].resume(0); });
    for (const sim::PoolDone& one : disk.pool_state.done) done(one.job.first_slot);
    disk.pool_state.done.clear();
    blk.flush();
  });
  return {outcomes, disk.memory};
}
Left on_simulated_threads(const BlkTrace& trace, std::uint64_t seed) {
  const auto mode = static_cast<sim::CacheMode>(seed % 3);
  return on_simulated_vmm(trace, sim::IoEngine::kThreads, mode, seed);
}
Left on_simulated_aio(const BlkTrace& trace, std::uint64_t seed) {
  return on_simulated_vmm(trace, sim::IoEngine::kAio, sim::CacheMode::kNone, seed);
}
Left on_simulated_uring(const BlkTrace& trace, std::uint64_t seed) {
  return on_simulated_vmm(trace, sim::IoEngine::kUring, sim::CacheMode::kNone, seed);
}

void expect_as_reference(Left (*play)(const BlkTrace&, std::uint64_t), std::uint64_t seeds) {
  for (std::uint64_t seed = 1; seed <= seeds && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const BlkTrace trace = BlkTraceMaker(seed).make(kBatches);
    BlkReference reference;
    const auto expected = test::expected_outcomes(trace, reference);
    const Left left = play(trace, seed);
    expect_equal(left.outcomes, expected);
    EXPECT_TRUE(left.bytes == reference.bytes);
  }
}

TEST(BlkTrace, on_memory) { expect_as_reference(on_memory, 100); }

TEST(BlkTrace, on_memory_completed_in_any_order) { expect_as_reference(on_pending, 100); }

TEST(BlkTrace, on_a_file) { expect_as_reference(on_file, 30); }

TEST(BlkTrace, on_a_file_by_io_uring) {
  if (!UringStore::available()) GTEST_SKIP() << "the kernel gives no io_uring";
  expect_as_reference(on_uring, 30);
}

TEST(BlkTrace, on_the_simulated_block_layer) { expect_as_reference(on_simulated_bio, 60); }

TEST(BlkTrace, on_a_simulated_file_written_back) {
  expect_as_reference(on_simulated_file_written_back, 60);
}

TEST(BlkTrace, on_a_simulated_file_written_through) {
  expect_as_reference(on_simulated_file_written_through, 60);
}

TEST(BlkTrace, by_a_simulated_pool_of_threads) { expect_as_reference(on_simulated_threads, 60); }

TEST(BlkTrace, by_simulated_aio) { expect_as_reference(on_simulated_aio, 60); }

TEST(BlkTrace, by_simulated_io_uring) { expect_as_reference(on_simulated_uring, 60); }

// The traces are worth something: all that can happen does.
TEST(BlkTrace, has_everything) {
  BlkReference reference;
  std::map<std::pair<std::uint32_t, int>, int> seen;
  const BlkTrace trace = BlkTraceMaker(1).make(400);
  const auto outcomes = test::expected_outcomes(trace, reference);
  std::size_t at = 0;
  std::size_t largest = 0;
  for (const auto& batch : trace) {
    largest = std::max(largest, batch.size());
    for (const auto& ask : batch) ++seen[{ask.type, outcomes[at++].status}];
  }
  EXPECT_EQ(largest, test::kBlkBatchMost);
  for (const std::uint32_t type :
       {kBlkIn, kBlkOut, kBlkFlush, kBlkGetId, kBlkDiscard, kBlkWriteZeroes})
    EXPECT_GT((seen[{type, kBlkStatusOk}]), 20) << type;
  EXPECT_GT((seen[{kBlkOut, kBlkStatusIoErr}]), 5);
  EXPECT_GT((seen[{kBlkDiscard, kBlkStatusIoErr}]), 5);
  EXPECT_GT((seen[{kBlkWriteZeroes, kBlkStatusUnsupp}]), 5);
  EXPECT_GT((seen[{77, kBlkStatusUnsupp}]), 5);
}

}  // namespace
}  // namespace vringlab
