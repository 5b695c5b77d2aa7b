// A guest kernel that resizes its receive queue while packets come: what is lost, what it
// costs, and that nothing is left mapped, in flight or waited for.
#include <gtest/gtest.h>

#include "sim/run/net_rx_world.h"
#include "sim/run/run.h"
#include "tests/double/model_machine.h"

namespace vringlab::sim {
namespace {

using test::occurrences;

Scenario resized(const char* iommu, bool merge, double resizes_per_s) {
  Scenario s;
  s.workload = "rx";
  s.guest = "vm-kernel";
  s.guest_notify = "interrupt";
  s.packets = 5000;
  s.iommu = iommu;
  s.dma_merge = merge;
  s.resizes_per_s = resizes_per_s;
  return s;
}

std::uint64_t count_of(const RunResult& r, Cost cost, const char* core) {
  std::uint64_t sum = 0;
  for (const CoreResult& c : r.cores) {
    for (const LedgerRow& row : c.ledger) sum += c.name == core && row.cost == cost ? row.count : 0;
  }
  return sum;
}

TEST(ResizedReceiver, never_unless_asked_for) {
  const RunResult r = run(resized("strict", false, 0));
  EXPECT_EQ(r.resizes, 0u);
  EXPECT_EQ(count_of(r, Cost::kMmioToVmm, "guest"), 0u);
}

TEST(ResizedReceiver, every_way_to_map_buffers_goes_through_it) {
  for (const char* iommu : {"off", "passthrough", "lazy", "strict", "swiotlb"}) {
    for (const bool merge : {false, true}) {
      const RunResult r = run(resized(iommu, merge, 1000));
      EXPECT_EQ(r.packets, 5000u) << iommu;
      EXPECT_EQ(r.bytes, 5000u * 64) << iommu;
      EXPECT_EQ(r.refused, 0u) << iommu;
      EXPECT_GE(r.resizes, 2u) << iommu;
    }
  }
}

// The run ends with a packet, and none comes within a resize.
TEST(ResizedReceiver, the_guest_pays_for_each_step_of_it) {
  const RunResult r = run(resized("strict", false, 1000));
  constexpr std::uint64_t kExits =
      RxTransport::kAskExits + RxTransport::kAnswerExits + RxTransport::kEnableExits;
  EXPECT_EQ(count_of(r, Cost::kVhostQueueStop, "guest"), r.resizes);
  EXPECT_EQ(count_of(r, Cost::kVhostQueueStart, "guest"), r.resizes);
  EXPECT_EQ(count_of(r, Cost::kMmioToVmm, "guest"), r.resizes * kExits);
  EXPECT_EQ(count_of(r, Cost::kVhostQueueStop, "worker"), 0u);
}

TEST(ResizedReceiver, each_ledger_adds_up_and_permuted_ties_change_nothing) {
  Scenario s = resized("strict", false, 2000);
  const RunResult first = run(s);
  for (const std::uint64_t tie_seed : {0u, 1u, 2u, 3u}) {
    s.tie_seed = tie_seed;
    const RunResult r = run(s);
    for (const CoreResult& core : r.cores) {
      std::uint64_t sum = 0;
      for (const LedgerRow& row : core.ledger) sum += row.ps;
      EXPECT_EQ(sum, core.busy_ps) << core.name;
    }
    EXPECT_EQ(first.elapsed_ps, r.elapsed_ps);
    EXPECT_EQ(first.dropped, r.dropped);
    EXPECT_EQ(first.guest_memory_hash, r.guest_memory_hash);
  }
}

// What a generator loses is accounted in a row or one by one.
TEST(ResizedReceiver, skipping_changes_nothing) {
  for (const double offered : {0.0, 1e6}) {
    Scenario s = resized("strict", false, 2000);
    s.offered_pps = offered;
    const RunResult r = run(s);
    s.skip_polls = false;
    const RunResult stepped = run(s);
    EXPECT_EQ(r.elapsed_ps, stepped.elapsed_ps);
    EXPECT_EQ(r.dropped, stepped.dropped);
    EXPECT_EQ(r.resizes, stepped.resizes);
  }
}

// Each frame that was made was received, was lost or waits, and few can wait at the end.
TEST(ResizedReceiver, packets_in_are_packets_out_and_packets_lost) {
  for (const bool merge : {false, true}) {
    Scenario s = resized("strict", merge, 3000);
    s.packets = 20000;
    const std::uint64_t pps = merge ? 1000000 : 250000;
    s.offered_pps = static_cast<double>(pps);
    const RunResult r = run(s);
    const std::uint64_t made = r.elapsed_ps / (1'000'000'000'000 / pps);
    const std::uint64_t waiting = s.tap_entries + s.batch + s.ring_size;
    ASSERT_GT(r.dropped, 3 * waiting);
    EXPECT_LE(r.packets + r.dropped, made + 1);
    EXPECT_GE(r.packets + r.dropped + waiting, made);
  }
}

TEST(ResizedReceiver, what_is_mapped_at_the_end_is_what_a_ring_needs) {
  for (const char* iommu : {"lazy", "strict"}) {
    Scenario s = resized(iommu, false, 5000);
    s.packets = 20000;
    const RunResult r = run(s);
    ASSERT_GT(r.resizes, 50u);
    EXPECT_LE(r.dma.maps - r.dma.unmaps, s.ring_size);
    EXPECT_LE(r.dma.mapped_pages, 2 * s.ring_size);
    s.dma_merge = true;
    const RunResult merged = run(s);
    EXPECT_LE(merged.dma.maps - merged.dma.unmaps, kernel_fragments(s));
    EXPECT_LE(merged.dma.mapped_pages, kernel_fragments(s) * s.fragment_bytes / kPageBytes);
  }
}

TEST(ResizedReceiver, buffers_mapped_by_themselves_are_unmapped_one_by_one) {
  const Scenario s = resized("strict", false, 1000);
  const RunResult r = run(s);
  // Of the ring's buffers each resize unmaps all but those that came back already.
  EXPECT_GT(r.dma.unmaps, r.packets + r.resizes * s.ring_size / 4);
  EXPECT_EQ(r.dma.invalidations, r.dma.unmaps);
  EXPECT_EQ(count_of(r, Cost::kIommuUnmap, "guest"), r.dma.unmaps);
}

TEST(ResizedReceiver, the_more_often_the_slower) {
  for (const bool merge : {false, true}) {
    double before = run(resized("strict", merge, 0)).rate_pps;
    for (const double often : {500.0, 1000.0, 2000.0}) {
      const double rate = run(resized("strict", merge, often)).rate_pps;
      EXPECT_LT(rate, before) << often;
      before = rate;
    }
  }
}

std::uint64_t guest_ps(const RunResult& r, std::initializer_list<Step> steps) {
  std::uint64_t sum = 0;
  for (const LedgerRow& row : r.cores[0].ledger)
    sum += std::ranges::count(steps, row.step) > 0 ? row.ps : 0;
  return sum;
}

// The guest is the bound, so what it does more is what the run takes more: registers and VMM,
// buffers unmapped and mapped anew. Besides, it waits for the first packets after each.
TEST(ResizedReceiver, a_run_is_longer_by_what_each_takes) {
  for (const char* iommu : {"lazy", "strict"}) {
    Scenario s = resized(iommu, false, 0);
    s.packets = 20000;
    const RunResult without = run(s);
    s.resizes_per_s = 300;
    const RunResult r = run(s);
    ASSERT_GE(r.resizes, 8u);
    const auto done = {Step::kGuestReset, Step::kDmaMap, Step::kDmaUnmap};
    const auto more = static_cast<double>(guest_ps(r, done) - guest_ps(without, done));
    const auto longer = static_cast<double>(r.elapsed_ps - without.elapsed_ps);
    EXPECT_GT(more, static_cast<double>(r.resizes) * 200e6);
    EXPECT_GT(longer, more) << iommu;
    EXPECT_LT(longer, 1.5 * more) << iommu;
  }
}

// Where a ring is mapped for the worker, its mapping goes with it.
TEST(ResizedReceiver, a_mapped_ring_is_mapped_at_its_new_place) {
  Scenario s = resized("off", false, 1000);
  s.plan = {.map_desc = true, .map_avail = true, .map_used = true, .guard = Guard::kSpinlock};
  const RunResult r = run(s);
  EXPECT_GE(r.resizes, 2u);
  EXPECT_EQ(r.pinned_bytes % kPageBytes, 0u);
  EXPECT_GE(r.pinned_bytes, 3 * kPageBytes);
  EXPECT_GE(count_of(r, Cost::kGup, "guest"), 3 * r.resizes);
}

// A world that is stepped by hand: bursts of packets, and a resize after each.
template <class Guest>
struct Stepped {
  NetRxWorld<Guest> world;

  explicit Stepped(const Scenario& s) : world(s) {}

  void deliver() {
    const Doorbells raised = std::exchange(world.rx.queue.bells, {});
    if (raised.kick) world.worker.kicked(raised.kick_ps);
    if (raised.call) world.guest.called(raised.call_ps);
    if (raised.resize) world.guest.resize_due(raised.resize_ps);
    if (raised.stopped) world.guest.device_stopped(raised.stopped_ps);
  }
  void worker_runs() {
    while (world.worker.runnable()) world.worker.step(), deliver();
  }
  void guest_runs() {
    while (world.guest.runnable()) world.guest.step(), deliver();
  }
  void frames(int count) {
    for (int i = 0; i < count; ++i) world.rx.generator.step();
    world.worker.kicked(world.generator_core.now());
  }
  void demand() {
    world.resize_timer.step();
    deliver();
  }
  const DriverRingState& ring() const { return world.rx.queue.driver.state(); }
  std::uint64_t lost() const {
    return world.rx.rx.counters().lost + world.guest.resizer().lost() + world.rx.generator.lost();
  }
};

Scenario endless(bool merge) {
  Scenario s = resized("strict", merge, 1000);
  s.packets = 1000000;
  s.offered_pps = 1e6;
  return s;
}

template <class Guest>
class ResizedByHand : public testing::Test {
 public:
  static constexpr bool kMerge = std::is_same_v<Guest, MergedReceiver>;
};
using Guests = testing::Types<MergedReceiver, PerBufferReceiver>;
TYPED_TEST_SUITE(ResizedByHand, Guests);

// The device holds packets when the queue is taken, some of them in the ring, unseen by the
// guest, and some at hand.
TYPED_TEST(ResizedByHand, in_a_loop_with_traffic_leaks_nothing) {
  Stepped<TypeParam> s(endless(TestFixture::kMerge));
  std::uint64_t pages = 0;
  for (int i = 0; i < 10000; ++i) {
    s.frames(3 + i % 5);
    s.worker_runs();
    s.guest_runs();  // takes them
    s.frames(i % 7);
    s.worker_runs();  // in the ring: these are lost
    s.demand();
    s.guest_runs();
    ASSERT_EQ(s.world.guest.resizer().resizes(), static_cast<std::uint64_t>(i) + 1);
    ASSERT_EQ(s.ring().size, i % 2 == 0 ? 128 : 256);
    ASSERT_EQ(s.ring().free_count + s.ring().in_flight, s.ring().size);
    ASSERT_EQ(s.ring().in_flight, s.ring().size);
    ASSERT_EQ(s.world.guest.buffers().at_device, s.ring().size);
    ASSERT_EQ(s.world.guest.buffers().held, 0u);
    pages = std::max(pages, s.world.dma.iommu.counters().mapped_pages);
    s.worker_runs();
    s.guest_runs();
  }
  EXPECT_EQ(s.world.rx.generator.made(), s.world.guest.received() + s.lost());
  EXPECT_GT(s.world.guest.resizer().lost(), 10000u);
  EXPECT_LE(pages, TestFixture::kMerge ? kernel_fragments(endless(true)) * 8 : 2 * 256u);
}

TYPED_TEST(ResizedByHand, waits_for_the_end_of_the_workers_run) {
  Stepped<TypeParam> s(endless(TestFixture::kMerge));
  s.frames(1);
  s.worker_runs();
  s.guest_runs();
  s.frames(20);
  s.world.worker.step();
  s.world.worker.step();
  s.demand();
  s.world.guest.step();
  s.deliver();
  EXPECT_FALSE(s.world.guest.runnable());
  EXPECT_TRUE(s.world.worker.runnable());
  s.worker_runs();
  EXPECT_TRUE(s.world.guest.runnable());
  EXPECT_GE(s.world.guest_core.now(), s.world.worker_core.now());
  s.guest_runs();
  EXPECT_EQ(s.world.guest.resizer().lost(), 20u);
  EXPECT_EQ(s.world.guest.resizer().resizes(), 1u);
}

// What waits in the TAP's ring meanwhile is not lost.
TYPED_TEST(ResizedByHand, frames_that_come_meanwhile_wait) {
  Stepped<TypeParam> s(endless(TestFixture::kMerge));
  s.frames(1);
  s.worker_runs();
  s.guest_runs();
  s.demand();
  s.world.guest.step();
  s.deliver();
  for (int i = 0; i < 30; ++i) s.world.rx.generator.step();
  s.guest_runs();
  s.worker_runs();
  s.guest_runs();
  EXPECT_EQ(s.world.guest.received(), 31u);
  EXPECT_EQ(s.lost(), 0u);
}

TYPED_TEST(ResizedByHand, not_twice_without_a_packet_between) {
  Stepped<TypeParam> s(endless(TestFixture::kMerge));
  s.demand();
  EXPECT_FALSE(s.world.guest.runnable());
  s.frames(1);
  s.worker_runs();
  s.guest_runs();
  for (int i = 0; i < 3; ++i) {
    s.demand();
    s.guest_runs();
    s.worker_runs();
    s.guest_runs();
  }
  EXPECT_EQ(s.world.guest.resizer().resizes(), 1u);
}

// A sleeping guest and a sleeping device: what is left is the price of each step.
TYPED_TEST(ResizedByHand, costs_what_its_parts_do) {
  Stepped<TypeParam> s(endless(TestFixture::kMerge));
  s.frames(1);
  s.worker_runs();
  s.guest_runs();
  s.demand();
  s.guest_runs();
  const CostModel& costs = s.world.net.machine.costs;
  const Ledger ledger = s.world.guest_core.ledger();
  const auto ps = [&](Cost cost) { return ledger.at(cost, Step::kGuestReset).ps; };
  EXPECT_EQ(ps(Cost::kMmioToVmm), 14 * costs[Cost::kMmioToVmm]);
  EXPECT_EQ(ps(Cost::kVhostQueueStop), costs[Cost::kVhostQueueStop]);
  EXPECT_EQ(ps(Cost::kVhostQueueStart), costs[Cost::kVhostQueueStart]);
  const std::uint64_t unmaps = occurrences(s.world.guest_core, Cost::kIommuUnmap);
  if (TestFixture::kMerge) {
    EXPECT_LE(unmaps, 13u);  // fragments of 21 buffers
  } else {
    EXPECT_EQ(unmaps, 1u + 255u);  // of the packet, and of what the ring still had
  }
}

}  // namespace
}  // namespace vringlab::sim
