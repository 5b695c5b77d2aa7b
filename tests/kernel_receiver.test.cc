// A guest kernel that receives: what its mappings do under each kind of IOMMU.
#include <gtest/gtest.h>

#include "sim/run/run.h"

namespace vringlab::sim {
namespace {

Scenario received(const char* iommu, bool merge) {
  Scenario s;
  s.workload = "rx";
  s.guest = "vm-kernel";
  s.guest_notify = "interrupt";
  s.packets = 3000;
  s.iommu = iommu;
  s.dma_merge = merge;
  return s;
}

TEST(KernelReceiver, without_an_iommu_nothing_is_mapped) {
  for (const char* mode : {"off", "passthrough"}) {
    const RunResult r = run(received(mode, false));
    EXPECT_EQ(r.packets, 3000u);
    EXPECT_EQ(r.dma.maps + r.dma.unmaps + r.dma.invalidations, 0u);
  }
}

TEST(KernelReceiver, a_buffer_is_mapped_once_for_each_packet) {
  const Scenario s = received("strict", false);
  const RunResult r = run(s);
  EXPECT_EQ(r.dma.unmaps, r.packets);
  EXPECT_LE(r.dma.maps, r.dma.unmaps + s.ring_size);
  EXPECT_EQ(r.dma.invalidations, r.dma.unmaps);
}

TEST(KernelReceiver, a_fragment_is_mapped_once_for_all_of_its_buffers) {
  Scenario s = received("strict", true);
  s.packet_bytes = 64;
  const RunResult r = run(s);
  // 1514 bytes and a header in whole cache lines: 21 to a fragment of 32 KiB.
  EXPECT_NEAR(static_cast<double>(r.packets) / static_cast<double>(r.dma.unmaps), 21, 1.5);
  EXPECT_EQ(r.dma.invalidations, r.dma.unmaps);
}

// A mapping has I/O pages of its own, and all are new to the IOTLB: one for each of 21 buffers
// of 1536 bytes, and one more for the five of them that cross a page's end.
TEST(KernelReceiver, the_device_misses_for_each_page_of_each_buffer_mapped) {
  Scenario s = received("strict", false);
  s.iotlb_entries = 65536;
  const RunResult r = run(s);
  // The device has taken all that is mapped: it is faster than the guest.
  const auto taken = static_cast<double>(r.dma.maps);
  EXPECT_NEAR(static_cast<double>(r.dma.iotlb_misses) / taken, 26.0 / 21, 0.01);
}

TEST(KernelReceiver, the_device_misses_for_each_page_of_each_fragment_mapped) {
  Scenario s = received("strict", true);
  s.packets = 20000;
  s.iotlb_entries = 65536;
  const RunResult r = run(s);
  EXPECT_NEAR(static_cast<double>(r.dma.iotlb_misses) / static_cast<double>(r.packets), 8.0 / 21,
              0.02);
}

TEST(KernelReceiver, one_queue_takes_its_buffers_in_order_and_needs_one_entry) {
  for (const std::uint32_t bytes : {64u, 9000u}) {
    Scenario s = received("strict", true);
    s.packet_bytes = bytes;
    s.iotlb_entries = 65536;
    const std::uint64_t enough = run(s).dma.iotlb_misses;
    s.iotlb_entries = 1;
    EXPECT_EQ(run(s).dma.iotlb_misses, enough);
  }
}

TEST(KernelReceiver, a_miss_costs_the_device_and_nobody_else) {
  Scenario s = received("strict", false);
  s.packets = 10000;
  s.costs = {{"iotlb_miss", 0}};
  const RunResult free = run(s);
  s.costs = {{"iotlb_miss", 20}};  // the guest stays the bound
  const RunResult paid = run(s);
  const auto miss_ps = [](const CoreResult& core) {
    std::uint64_t sum = 0;
    for (const LedgerRow& row : core.ledger) sum += row.cost == Cost::kIotlbMiss ? row.ps : 0;
    return sum;
  };
  EXPECT_EQ(miss_ps(paid.cores[0]), 0u);
  EXPECT_EQ(miss_ps(paid.cores[1]), paid.dma.iotlb_misses * 20000);
  EXPECT_NEAR(paid.rate_pps / free.rate_pps, 1, 0.01);
}

TEST(KernelReceiver, a_flush_makes_the_ring_miss_as_well) {
  const Scenario s = received("lazy", false);
  const RunResult r = run(s);
  ASSERT_GT(r.dma.invalidations, 5u);
  Scenario none = s;
  none.packets = 100;
  const RunResult start = run(none);
  EXPECT_EQ(start.dma.invalidations, 0u);
  EXPECT_GE(r.dma.iotlb_misses, start.dma.iotlb_misses + 3 * r.dma.invalidations);
}

TEST(KernelReceiver, what_bounces_comes_whole_and_no_slot_is_lost) {
  for (const bool merge : {false, true}) {
    for (const std::uint32_t bytes : {64u, 1500u, 9000u}) {
      Scenario s = received("swiotlb", merge);
      s.packet_bytes = bytes;
      const RunResult r = run(s);
      EXPECT_EQ(r.packets, s.packets);
      EXPECT_EQ(r.bytes, s.packets * bytes);
      EXPECT_EQ(r.refused, 0u);
      EXPECT_GT(r.dma.maps, r.dma.unmaps);
      EXPECT_GT(r.dma.unmaps, 0u);
      // One or two slots a buffer at the device; 16 a fragment that has one there.
      const std::uint64_t live = r.dma.maps - r.dma.unmaps;
      EXPECT_LE(live, merge ? kernel_fragments(s) : s.ring_size);
      EXPECT_GE(r.dma.pool_slots, live);
      EXPECT_LE(r.dma.pool_slots, live * (merge ? 16 : 2));
    }
  }
}

// A buffer is copied in whole, as it may not be filled, and out: whole by an unmap, what was
// written by a sync.
TEST(KernelReceiver, bytes_bounce_once_in_and_once_out) {
  constexpr std::uint64_t kBuffer = 1536;
  Scenario s = received("swiotlb", false);
  const RunResult single = run(s);
  EXPECT_EQ(single.dma.bounced_bytes, kBuffer * (single.dma.maps + single.dma.unmaps));
  s.dma_merge = true;
  const RunResult merged = run(s);
  constexpr std::uint64_t kHeader = 12;
  EXPECT_EQ(merged.dma.bounced_bytes,
            s.fragment_bytes * merged.dma.maps + (s.packet_bytes + kHeader) * merged.packets);
}

std::uint64_t sum_of(const RunResult& r, Cost cost, const char* core) {
  std::uint64_t sum = 0;
  for (const CoreResult& c : r.cores) {
    for (const LedgerRow& row : c.ledger) sum += c.name == core && row.cost == cost ? row.count : 0;
  }
  return sum;
}

TEST(KernelReceiver, bouncing_is_paid_by_the_guest) {
  const RunResult direct = run(received("passthrough", false));
  const RunResult r = run(received("swiotlb", false));
  EXPECT_EQ(sum_of(r, Cost::kBounceSlots, "guest"), r.dma.maps);
  EXPECT_EQ(sum_of(r, Cost::kCopyStartup, "guest"), r.dma.maps + r.dma.unmaps);
  EXPECT_EQ(sum_of(r, Cost::kCopyBytes, "guest"), r.dma.bounced_bytes);
  EXPECT_EQ(sum_of(r, Cost::kIommuMap, "guest"), 0u);
  EXPECT_EQ(r.dma.iotlb_misses, 0u);
  EXPECT_EQ(sum_of(direct, Cost::kCopyBytes, "guest"), 0u);
  EXPECT_LT(r.rate_pps, direct.rate_pps);
}

TEST(KernelReceiver, a_pool_holds_the_ring_or_is_refused) {
  Scenario s = received("swiotlb", false);
  s.swiotlb_slots = 2 * s.ring_size;
  EXPECT_EQ(run(s).packets, s.packets);
  s.swiotlb_slots -= 1;
  EXPECT_THROW(check_scenario(s), std::invalid_argument);
  s.dma_merge = true;
  s.swiotlb_slots = 16 * kernel_fragments(s);
  EXPECT_EQ(run(s).packets, s.packets);
  s.swiotlb_slots -= 1;
  EXPECT_THROW(check_scenario(s), std::invalid_argument);
}

TEST(KernelReceiver, a_pool_takes_no_mapping_longer_than_128_slots) {
  Scenario s = received("swiotlb", true);
  s.swiotlb_slots = 32768;
  s.fragment_bytes = 262144;
  EXPECT_EQ(run(s).packets, s.packets);
  s.fragment_bytes += 4096;
  EXPECT_THROW(check_scenario(s), std::invalid_argument);
  s.dma_merge = false;
  EXPECT_NO_THROW(check_scenario(s));
}

TEST(KernelReceiver, a_lazy_iommu_is_told_of_250_at_once) {
  const RunResult r = run(received("lazy", false));
  EXPECT_EQ(r.dma.invalidations, r.dma.unmaps / 250);
}

// Of a run long enough for a lazy IOMMU's addresses to come back from their flushes.
double long_rate(const char* iommu, bool merge) {
  Scenario s = received(iommu, merge);
  s.packets = 40000;
  return run(s).rate_pps;
}

TEST(KernelReceiver, what_maps_more_is_slower) {
  const double off = long_rate("off", false);
  for (const bool merge : {false, true}) {
    const double lazy = long_rate("lazy", merge);
    EXPECT_GT(off, lazy);
    EXPECT_GT(lazy, long_rate("strict", merge));
  }
  EXPECT_GT(long_rate("strict", true), long_rate("strict", false));
}

TEST(KernelReceiver, packets_longer_than_a_buffer_come_whole) {
  Scenario s = received("lazy", true);
  s.packet_bytes = 9000;
  s.packets = 500;
  const RunResult r = run(s);
  EXPECT_EQ(r.packets, 500u);
  EXPECT_EQ(r.bytes, 500u * 9000);
  EXPECT_EQ(r.refused, 0u);
}

TEST(KernelReceiver, a_packet_that_no_ring_of_its_buffers_holds_is_refused) {
  Scenario s = received("off", false);
  s.ring_size = 2;
  s.packets = 10;
  s.packet_bytes = 2 * 1514;
  EXPECT_EQ(run(s).packets, 10u);
  s.packet_bytes = 4000;
  EXPECT_THROW(check_scenario(s), std::invalid_argument);
}

TEST(KernelReceiver, each_ledger_adds_up_and_runs_repeat) {
  for (const char* mode : {"off", "lazy", "strict", "swiotlb"}) {
    const Scenario s = received(mode, true);
    const RunResult r = run(s);
    for (const CoreResult& core : r.cores) {
      std::uint64_t sum = 0;
      for (const LedgerRow& row : core.ledger) sum += row.ps;
      EXPECT_EQ(sum, core.busy_ps) << core.name;
    }
    EXPECT_EQ(run(s).elapsed_ps, r.elapsed_ps);
  }
}

// Packets a second and queue, where each queue has a worker.
double rate_per_queue(const char* iommu, bool merge, std::uint32_t queues) {
  Scenario s = received(iommu, merge);
  s.queue_pairs = s.workers = queues;
  s.packets = 20000 * queues;
  return run(s).rate_pps / queues;
}

TEST(KernelReceiver, queues_wait_for_one_another_where_each_buffer_is_told_of) {
  const double alone = rate_per_queue("strict", false, 1);
  double before = alone;
  for (const std::uint32_t queues : {3u, 4u, 5u}) {
    const double rate = rate_per_queue("strict", false, queues);
    EXPECT_LT(rate, 0.95 * before) << queues;
    before = rate;
  }
  // An invalidation takes 1 us, of whichever queue.
  EXPECT_NEAR(5 * before, 1e6, 0.05e6);
}

TEST(KernelReceiver, queues_hardly_wait_where_only_fragments_are_told_of) {
  for (const bool merge : {false, true}) {
    const char* const iommu = merge ? "strict" : "lazy";
    const double alone = rate_per_queue(iommu, merge, 1);
    EXPECT_GT(rate_per_queue(iommu, merge, 5), 0.9 * alone) << iommu;
  }
}

TEST(KernelReceiver, what_queues_map_is_added_up) {
  Scenario s = received("strict", false);
  s.queue_pairs = s.workers = 3;
  const RunResult r = run(s);
  EXPECT_EQ(r.packets, s.packets);
  EXPECT_EQ(r.dma.unmaps, r.packets);
  EXPECT_EQ(r.dma.invalidations, r.dma.unmaps);
  EXPECT_LE(r.dma.maps, r.dma.unmaps + 3 * s.ring_size);
  EXPECT_GT(r.dma.maps, r.dma.unmaps + s.ring_size);
}

TEST(KernelReceiver, queues_push_one_another_out_of_an_iotlb_too_small) {
  Scenario s = received("strict", true);
  s.queue_pairs = s.workers = 4;
  s.packets = 20000;
  const auto misses_with = [&s](std::uint32_t entries) {
    s.iotlb_entries = entries;
    return static_cast<double>(run(s).dma.iotlb_misses);
  };
  const double enough = misses_with(65536);
  EXPECT_NEAR(misses_with(64), enough, 0.01 * enough);
  EXPECT_GT(misses_with(1), 1.1 * enough);
}

TEST(KernelReceiver, each_pool_of_several_queues_is_as_large) {
  Scenario s = received("swiotlb", true);
  s.queue_pairs = s.workers = 2;
  const RunResult r = run(s);
  EXPECT_EQ(r.packets, s.packets);
  EXPECT_LE(r.dma.pool_slots, 2u * 16 * kernel_fragments(s));
  EXPECT_GT(r.dma.pool_slots, 0u);
}

TEST(KernelReceiver, a_slow_sender_is_answered_by_interrupts) {
  Scenario s = received("strict", true);
  s.packets = 200;
  s.offered_pps = 10000;
  const RunResult r = run(s);
  EXPECT_EQ(r.packets, 200u);
  EXPECT_GT(r.interrupts, 190u);
}

}  // namespace
}  // namespace vringlab::sim
