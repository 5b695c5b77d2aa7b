// Guests with an application: a UDP socket, or AF_XDP, on a virtual processor of its own.
#include <gtest/gtest.h>

#include "sim/run/run.h"

namespace vringlab::sim {
namespace {

Scenario between(const char* workload, const char* guest) {
  Scenario s;
  s.workload = workload;
  s.guest = guest;
  s.guest_notify = "interrupt";
  s.sink = "bridge";
  s.event_idx = true;
  s.packets = 5000;
  return s;
}
Scenario with(Scenario s, auto change) {
  change(s);
  return s;
}

const CoreResult& core_of(const RunResult& r, const char* name) {
  for (const CoreResult& core : r.cores) {
    if (core.name == name) return core;
  }
  throw std::logic_error(name);
}
double busy_share(const RunResult& r, const char* name) {
  return static_cast<double>(core_of(r, name).busy_ps) / static_cast<double>(r.elapsed_ps);
}
std::uint64_t spent(const CoreResult& core, Cost cost) {
  std::uint64_t ps = 0;
  for (const LedgerRow& row : core.ledger) ps += row.cost == cost ? row.ps : 0;
  return ps;
}

struct Case {
  const char* workload;
  const char* guest;
};
class GuestSockets : public testing::TestWithParam<Case> {
 protected:
  Scenario scenario() const { return between(GetParam().workload, GetParam().guest); }
};
INSTANTIATE_TEST_SUITE_P(All, GuestSockets,
                         testing::Values(Case{"tx", "vm-udp"}, Case{"tx", "vm-xsk"},
                                         Case{"rx", "vm-udp"}, Case{"rx", "vm-xsk"}));

TEST_P(GuestSockets, every_packet_arrives_whole) {
  for (const std::uint32_t ring : {4u, 256u}) {
    const RunResult r = run(with(scenario(), [&](Scenario& s) { s.ring_size = ring; }));
    EXPECT_EQ(r.packets, 5000u);
    EXPECT_EQ(r.bytes, 5000u * 64);
    EXPECT_EQ(r.refused, 0u);
  }
}

TEST_P(GuestSockets, every_picosecond_has_a_name) {
  const RunResult r = run(scenario());
  for (const CoreResult& core : r.cores) {
    std::uint64_t sum = 0;
    for (const LedgerRow& row : core.ledger) sum += row.ps;
    EXPECT_EQ(sum, core.busy_ps) << core.name;
  }
}

TEST_P(GuestSockets, a_light_load_leaves_its_cores_idle) {
  const RunResult r = run(with(scenario(), [](Scenario& s) {
    s.offered_pps = 20000;
    s.packets = 500;
  }));
  EXPECT_EQ(r.packets, 500u);
  EXPECT_EQ(r.dropped, 0u);
  EXPECT_NEAR(r.rate_pps, 20000, 400);
  for (const CoreResult& core : r.cores) {
    const double limit = core.name == "generator" ? 1 : 0.35;
    EXPECT_LT(busy_share(r, core.name.c_str()), limit) << core.name;
  }
}

TEST_P(GuestSockets, costs_of_nothing_end_too) {
  Scenario s = scenario();
  s.packets = 300;
  for (const char* row : {"sendmsg_udp_small", "xsk_app_frame", "xsk_driver_frame", "napi_poll",
                          "guest_interrupt", "reader_wake", "context_switch.thread",
                          "kick.pio_ioeventfd", "guest_ipi", "syscall.kpti_pcid"})
    s.costs.push_back({row, 0});
  EXPECT_EQ(run(s).packets, 300u);
}

// Linux asks for a call a frame, and the call takes the processor from the sender.
TEST(UdpGuest, a_softirq_that_frees_what_was_sent_costs_interrupts) {
  const Scenario s = between("tx", "vm-udp");
  const RunResult with_napi = run(s);
  const RunResult without = run(with(s, [](Scenario& o) { o.napi_tx = false; }));
  EXPECT_EQ(without.packets, 5000u);
  EXPECT_LE(without.interrupts, 1u);  // a device that was just started calls once
  EXPECT_GT(with_napi.interrupts, s.packets / 20);
  EXPECT_LT(with_napi.rate_pps, without.rate_pps);
  const CoreResult& guest = core_of(with_napi, "guest");
  EXPECT_EQ(spent(guest, Cost::kGuestInterrupt),
            with_napi.interrupts * 1'000'000);  // its row is 1 us
  EXPECT_GT(spent(guest, Cost::kNapiPoll), 0u);
  EXPECT_GT(spent(core_of(with_napi, "worker"), Cost::kEventfdSignal),
            spent(core_of(without, "worker"), Cost::kEventfdSignal));
}

// A worker that is much slower fills the queue: the process sleeps and the queue is stopped.
TEST(UdpGuest, a_full_queue_stops_its_sender_and_nothing_is_lost) {
  for (const bool napi : {false, true}) {
    for (const bool event_idx : {false, true}) {
      for (const std::uint32_t ring : {2u, 4u, 16u, 32u, 256u}) {
        const RunResult r = run(with(between("tx", "vm-udp"), [&](Scenario& s) {
          s.napi_tx = napi, s.event_idx = event_idx, s.ring_size = ring;
          s.costs = {{"bridge_forward", 6000}};
        }));
        EXPECT_EQ(r.packets, 5000u);
        EXPECT_GT(busy_share(r, "worker"), ring > 32 ? 0.95 : 0.3);
        EXPECT_GT(r.interrupts, 10u);
        EXPECT_GT(spent(core_of(r, "guest"), Cost::kContextSwitch), 0u);
      }
    }
  }
}

TEST(XskGuest, sends_more_than_a_socket_and_copies_nothing_in_the_guest) {
  const RunResult udp = run(between("tx", "vm-udp"));
  const RunResult xsk = run(between("tx", "vm-xsk"));
  EXPECT_GT(xsk.rate_pps, 2 * udp.rate_pps);
  // The worker is the bound, so application and softirq sleep in between.
  EXPECT_GT(busy_share(xsk, "worker"), 0.98);
  EXPECT_LT(busy_share(xsk, "app"), 0.6);
  EXPECT_LT(busy_share(xsk, "guest"), 0.6);
  EXPECT_EQ(spent(core_of(xsk, "guest"), Cost::kUdpSend), 0u);
  EXPECT_LT(xsk.kicks, xsk.packets / 16);
}

TEST(XskGuest, receives_more_than_a_socket) {
  const RunResult udp = run(between("rx", "vm-udp"));
  const RunResult xsk = run(between("rx", "vm-xsk"));
  EXPECT_GT(xsk.rate_pps, udp.rate_pps);
  EXPECT_LT(busy_share(xsk, "app") + busy_share(xsk, "guest"),
            busy_share(udp, "app") + busy_share(udp, "guest"));
  EXPECT_EQ(spent(core_of(xsk, "app"), Cost::kCopyBytes), 0u);
  EXPECT_GT(spent(core_of(udp, "app"), Cost::kCopyBytes), 0u);
}

TEST(XskGuest, a_umem_is_mapped_once) {
  for (const char* workload : {"tx", "rx"}) {
    const RunResult r =
        run(with(between(workload, "vm-xsk"), [](Scenario& s) { s.iommu = "strict"; }));
    EXPECT_EQ(r.dma.maps, *workload == 't' ? 2u : 1u);  // and the header in front of all frames
    EXPECT_EQ(r.dma.unmaps, 0u);
  }
}

// One page or two a frame: the longest that a chunk has room for.
TEST(XskGuest, the_longest_frames) {
  for (const std::uint32_t bytes : {1514u, 3840u}) {
    for (const char* workload : {"tx", "rx"}) {
      const RunResult r =
          run(with(between(workload, "vm-xsk"), [&](Scenario& s) { s.packet_bytes = bytes; }));
      EXPECT_EQ(r.bytes, 5000u * bytes) << workload;
      EXPECT_EQ(r.dropped > 0, *workload == 'r') << "a generator that nobody slows down loses";
    }
  }
}

// As many frames at the device as its completion ring has room for, and the tx ring full: each
// end waits for the other.
TEST(XskGuest, rings_shorter_than_the_virtqueue_hold_nobody_up) {
  for (const std::uint32_t burst : {1u, 32u}) {
    for (const bool tables : {false, true}) {
      const RunResult r = run(with(between("tx", "vm-xsk"), [&](Scenario& s) {
        s.costs = {{"bridge_forward", 8000}};
        s.guest_burst = burst;
        s.indirect = tables;
        s.xsk_ring = 64;
      }));
      EXPECT_EQ(r.packets, 5000u) << burst << tables;
    }
  }
}

TEST(XskGuest, indirect_tables_are_used_to_send) {
  const RunResult plain = run(between("tx", "vm-xsk"));
  const RunResult tables =
      run(with(between("tx", "vm-xsk"), [](Scenario& s) { s.indirect = true; }));
  EXPECT_EQ(tables.packets, plain.packets);
  EXPECT_NE(tables.guest_memory_hash, plain.guest_memory_hash);
}

// A light load: as many interrupts as packets, or one poll a timer.
TEST(GuestPolls, deferred_take_fewer_interrupts_and_longer) {
  for (const char* guest : {"vm-kernel", "vm-udp", "vm-xsk"}) {
    Scenario s = between("rx", guest);
    s.offered_pps = 100000;
    s.packets = 2000;
    const RunResult at_once = run(s);
    s.napi_defer_us = 100;
    const RunResult deferred = run(s);
    EXPECT_EQ(deferred.packets, 2000u) << guest;
    EXPECT_EQ(deferred.dropped, 0u) << guest;
    EXPECT_GT(at_once.interrupts, 1000u) << guest;
    EXPECT_LT(deferred.interrupts, 10u) << guest;
    EXPECT_LT(core_of(deferred, "guest").busy_ps, core_of(at_once, "guest").busy_ps) << guest;
    EXPECT_LT(deferred.calls, 10u) << guest;
  }
}

// With an empty ring in between it goes back to interrupts.
TEST(GuestPolls, a_deferred_poll_that_finds_nothing_asks_for_interrupts) {
  Scenario s = between("rx", "vm-xsk");
  s.offered_pps = 1000;
  s.packets = 100;
  s.napi_defer_us = 100;
  const RunResult r = run(s);
  EXPECT_EQ(r.packets, 100u);
  EXPECT_GE(r.interrupts, 99u);
}

TEST(GuestPolls, buffers_may_be_shorter_than_a_frame) {
  Scenario s = between("rx", "vm-kernel");
  s.packet_bytes = 1000;
  const RunResult whole = run(s);
  s.min_buffer_bytes = 200;
  const RunResult parts = run(s);
  EXPECT_EQ(parts.bytes, whole.bytes);
  EXPECT_EQ(parts.refused, 0u);
}

TEST(UdpGuest, a_socket_without_room_drops) {
  Scenario s = between("rx", "vm-udp");
  s.costs = {{"recvmsg_udp_small", 5000}};  // a slow reader
  const RunResult slow = run(s);
  EXPECT_EQ(slow.packets, 5000u);
  std::uint64_t lost_before = slow.dropped;
  s.receive_buffer_bytes = 1u << 20;
  const RunResult roomy = run(s);
  EXPECT_GT(lost_before, 0u);
  // All that came is read, waits, or was dropped by TAP or socket.
  EXPECT_EQ(roomy.packets, 5000u);
  EXPECT_GT(busy_share(roomy, "app"), 0.95);
}

// Where the reader is slower than the softirq, a packet that waits holds its buffer.
TEST(UdpGuest, buffers_that_wait_in_a_socket_are_not_the_rings) {
  for (const bool merge : {false, true}) {
    Scenario s = between("rx", "vm-udp");
    s.costs = {{"recvmsg_udp_small", 5000}};
    s.iommu = "strict";
    s.dma_merge = merge;
    const RunResult r = run(s);
    EXPECT_EQ(r.packets, 5000u);
    EXPECT_GE(r.dma.maps, r.dma.unmaps);
  }
}

TEST(UdpGuest, sends_one_frame_a_call_and_kicks_for_most) {
  const RunResult r = run(between("tx", "vm-udp"));
  EXPECT_GT(busy_share(r, "guest"), 0.99);
  EXPECT_GT(r.kicks, 0u);
  EXPECT_LT(r.rate_pps, 1e6);
}

}  // namespace
}  // namespace vringlab::sim
