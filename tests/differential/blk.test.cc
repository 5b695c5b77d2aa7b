// The block loop on plain memory and on the simulated machine, given the same traces: what is left
// of guest memory and of the disk must be the same, whatever the access plan.
#include <gtest/gtest.h>

#include "core/backend/blk/memory_store.h"
#include "tests/differential/player.h"
#include "tests/double/blk_trace.h"
#include "tests/double/model_blk.h"

namespace vringlab {
namespace {

using test::BlkRig;
using test::ModelBlkRig;
using test::one_of;

constexpr std::size_t kDiskBytes = test::kBlkTraceSectors * kSectorBytes;

// Plain memory of one region, as the simulated machine has it.
struct PlainGuest : test::RawGuest {
  using Access = DirectAccess;
  using Payload = DirectPayload;

  PlainGuest() : RawGuest({{0, test::ModelMachine::kBytes}}) {}
  Access access(const RingAreas& areas) { return Access(areas); }
  Payload payload() { return Payload(memory()); }
};

// A disk in memory, whichever way the payload is reached.
struct Disk {
  std::vector<std::byte> bytes = std::vector<std::byte>(kDiskBytes);
  MemoryStore store{bytes};
};

std::span<const std::byte> all_of(const GuestMemory& memory) {
  return memory.regions().front().bytes;
}

void expect_equal_counters(const BlkCounters& a, const BlkCounters& b) {
  EXPECT_EQ(a.taken, b.taken);
  EXPECT_EQ(a.completed, b.completed);
  EXPECT_EQ(a.errors, b.errors);
  EXPECT_EQ(a.read_bytes, b.read_bytes);
  EXPECT_EQ(a.written_bytes, b.written_bytes);
  EXPECT_EQ(a.refused, b.refused);
  EXPECT_EQ(a.calls, b.calls);
}

// Returns the requests that were served.
std::uint64_t expect_same_outcome(std::uint64_t seed) {
  sim::RandomStream random(seed);
  const sim::AccessPlan plan = test::any_plan(random);
  const std::uint64_t features = one_of<std::uint64_t>(random, {0, test::kEventIdx});
  const BlkConfig config{.disk = test::kBlkTraceDisk,
                         .used_batch = one_of<std::uint32_t>(random, {1, 3, 64}),
                         .max_in_flight = one_of<std::uint32_t>(random, {1, 4, 64}),
                         .weight = one_of<std::uint32_t>(random, {1, 5, 256})};
  test::ModelMachine machine(plan);
  Disk plain_disk;
  Disk model_disk;
  BlkRig<MemoryStore, PlainGuest> plain(plain_disk.store, config, 64, features);
  ModelBlkRig<MemoryStore> model(model_disk.store, config, 64, features, {&machine});
  for (const test::BlkBatch& batch : test::BlkTraceMaker(seed).make(30)) {
    machine.context.set_unmapped(plan, random.next() % 3 == 0);
    const auto one = test::play_trace(plain, {batch}, [](auto&) {});
    const auto other = test::play_trace(model, {batch}, [](auto&) {});
    EXPECT_TRUE(one == other);
    EXPECT_EQ(plain.blk.arm(), model.blk.arm());
    test::expect_equal_memory(all_of(plain.guest.memory()), all_of(model.guest.memory()));
    if (testing::Test::HasFailure()) return 0;
  }
  EXPECT_TRUE(plain_disk.bytes == model_disk.bytes);
  expect_equal_counters(plain.blk.counters(), model.blk.counters());
  EXPECT_EQ(machine.device_core.ledger().total_ps(), machine.device_core.busy_ps());
  return model.blk.counters().completed;
}

TEST(Differential, blk_does_the_same_on_plain_and_on_simulated_memory) {
  std::uint64_t completed = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    completed += expect_same_outcome(seed);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(completed, 10000u);
}

}  // namespace
}  // namespace vringlab
