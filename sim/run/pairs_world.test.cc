#include "sim/run/pairs_world.h"

#include <gtest/gtest.h>

#include <cstring>

#include "sim/machine/scheduler.h"

namespace vringlab::sim {
namespace {

Scenario queues(const char* workload, std::uint32_t pairs, std::uint32_t workers) {
  Scenario s;
  s.workload = workload;
  s.queue_pairs = pairs;
  s.workers = workers;
  return s;
}

template <class Pair>
void run_a_while(PairsWorld<Pair>& world, std::uint64_t packets) {
  Scheduler scheduler(tie_ranks<3>(0), world.guests, world.threads, world.generators);
  const auto all = [&](auto f) {
    std::uint64_t sum = 0;
    for (const auto& pair : world.pairs) sum += f(*pair);
    return sum;
  };
  scheduler.run([&] { return all([](const Pair& p) { return p.packets(); }) >= packets; },
                [&] { return all([](const Pair& p) { return p.raised(); }) > 0; },
                [&](std::size_t, std::uint64_t start_ps) {
                  for (const auto& pair : world.pairs) pair->deliver(start_ps, {});
                });
}

template <class Pair>
void expect_all_at_work(const char* workload, const char* guest = "virtio-user") {
  Scenario s = queues(workload, 4, 2);
  s.guest = guest;
  PairsWorld<Pair> world(s);
  run_a_while(world, 8000);
  for (const auto& pair : world.pairs) EXPECT_GT(pair->packets(), 1000u) << workload;
  for (const Core& core : world.cores) {
    std::uint64_t sum = 0;
    const Ledger ledger = core.ledger();
    for (std::size_t cost = 0; cost < kCosts; ++cost) {
      for (std::size_t step = 0; step < kSteps; ++step)
        sum += ledger.at(static_cast<Cost>(cost), static_cast<Step>(step)).ps;
    }
    EXPECT_EQ(sum, core.busy_ps()) << workload << " core " << int{core.id()};
    EXPECT_EQ(core.busy_ps() + core.idle_ps(), core.now());
  }
}

TEST(PairsWorld, every_queue_has_its_share_and_every_core_accounts_for_its_time) {
  expect_all_at_work<SendingPair>("tx");
  expect_all_at_work<ReceivingPair>("rx");
  expect_all_at_work<MergedReceivingPair>("rx", "vm-kernel");
  expect_all_at_work<ForwardingPair>("io");
}

Scenario kernels(const char* iommu, std::uint32_t pairs) {
  Scenario s = queues("rx", pairs, pairs);
  s.guest = "vm-kernel";
  s.guest_notify = "interrupt";
  s.iommu = iommu;
  return s;
}

// The frame that a queue got as its n-th is in the n-th buffer that was cut, and begins with n:
// until the first poll ends, after which memory is cut anew.
template <class Pair>
void expect_frames_in_place(const char* iommu) {
  constexpr std::uint64_t kFrames = 48;
  constexpr std::uint32_t kBuffer = 1536;
  constexpr std::uint32_t kHeader = 12;
  Scenario s = kernels(iommu, 2);
  s.packets = 2 * kFrames;
  PairsWorld<Pair> world(s);
  run_a_while(world, s.packets);
  for (std::size_t i = 0; i < world.pairs.size(); ++i) {
    const auto& pair = world.pairs[i];
    const RxBuffersConfig& fragments = world.layouts()[i].kernel.fragments;
    const std::uint32_t each = fragments.fragment_bytes / kBuffer;
    ASSERT_GT(pair->packets(), kFrames / 2);
    ASSERT_LT(pair->packets(), kNapiBudget);
    for (std::uint64_t n = 0; n < pair->packets(); ++n) {
      const std::uint64_t at =
          fragments.base.value + n / each * fragments.fragment_bytes + n % each * kBuffer;
      std::uint64_t word = 0;
      std::memcpy(&word, world.net.guest_bytes().data() + at + kHeader, sizeof(word));
      ASSERT_EQ(word, n) << iommu;
    }
  }
}

TEST(PairsWorld, every_frame_is_where_the_guests_kernel_looks_for_it) {
  for (const char* iommu : {"off", "passthrough", "lazy", "strict", "swiotlb"}) {
    expect_frames_in_place<MergedReceivingPair>(iommu);
    expect_frames_in_place<PerBufferReceivingPair>(iommu);
  }
}

TEST(PairsWorld, kernels_share_an_iommu_and_no_pages) {
  PairsWorld<PerBufferReceivingPair> world(kernels("lazy", 3));
  run_a_while(world, 6000);
  std::uint64_t flushes = 0;
  for (const auto& pair : world.pairs) flushes += pair->dma.iommu.counters().invalidations;
  EXPECT_EQ(world.net.io.flushes(), flushes);
  EXPECT_GT(flushes, 15u);
  for (const auto& pair : world.pairs) EXPECT_EQ(pair->rx.rx.counters().refused, 0u);
}

TEST(PairsWorld, workers_go_to_cores_in_turn) {
  Scenario s = queues("tx", 5, 5);
  s.worker_cores = 2;
  const PairsWorld<SendingPair> world(s);
  ASSERT_EQ(world.worker_cores.size(), 2u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(&world.pairs[i]->tx_served.thread->core(), world.worker_cores[i % 2]);
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_NE(world.pairs[i]->tx_served.thread, world.pairs[j]->tx_served.thread);
  }
}

TEST(PairsWorld, queues_go_to_workers_in_turn) {
  const PairsWorld<SendingPair> world(queues("tx", 5, 2));
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(&world.pairs[i]->tx_served.thread->core(), world.worker_cores[i % 2]);
    EXPECT_EQ(world.pairs[i]->tx.queue.context.core, world.worker_cores[i % 2]);
  }
}

}  // namespace
}  // namespace vringlab::sim
