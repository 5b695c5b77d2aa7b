// What holds for the workloads beside plain transmission, seen from outside: by runs.
#include <gtest/gtest.h>

#include "sim/host/sinks.h"
#include "sim/run/run.h"
#include "tests/double/run_text.h"

namespace vringlab::sim {
namespace {

struct Named {
  std::string name;
  Scenario scenario;
};

Scenario small(const char* workload) {
  Scenario s;
  s.workload = workload;
  s.packets = 3000;
  return s;
}

Scenario changed(Scenario s, auto change) {
  change(s);
  return s;
}

Scenario small_blk(const char* form, auto change) {
  Scenario s = small("blk");
  s.packets = 1000;
  s.blk.form = form;
  s.blk.operation = "mixed";
  s.blk.disk_bytes = 1u << 24;
  s.blk.flush_every = 50;
  s.blk.data = true;
  if (s.blk.form == "vhost-2010") s.blk.cache = "writethrough";
  change(s);
  return s;
}

// Every form, and what stands around each.
std::vector<Named> blk_shapes() {
  const auto nothing = [](Scenario&) {};
  const auto many = [](Scenario& s) {
    s.vcpus = 4, s.blk.queues = 3, s.workers = 2, s.blk.jobs = 8;
  };
  return {
      {"blk_host", small_blk("host", nothing)},
      {"blk_host_many", small_blk("host", [](Scenario& s) { s.blk.jobs = 6, s.vcpus = 1; })},
      {"blk_bio", small_blk("vhost-bio", nothing)},
      {"blk_bio_ram", small_blk("vhost-bio", [](Scenario& s) { s.blk.disk = "ram"; })},
      {"blk_bio_many", small_blk("vhost-bio", many)},
      {"blk_bio_small_ring", small_blk("vhost-bio",
                                       [](Scenario& s) {
                                         s.ring_size = 4, s.blk.max_segments = 2;
                                         s.blk.block_bytes = 20480;
                                       })},
      {"blk_bio_indirect",
       small_blk("vhost-bio", [](Scenario& s) { s.indirect = s.event_idx = true; })},
      {"blk_2010", small_blk("vhost-2010", nothing)},
      {"blk_2010_writeback", small_blk("vhost-2010",
                                       [](Scenario& s) {
                                         s.blk.cache = "writeback";
                                         s.blk.cache_bytes = 1u << 21;
                                       })},
      {"blk_threads", small_blk("vmm", nothing)},
      {"blk_threads_writeback", small_blk("vmm",
                                          [](Scenario& s) {
                                            s.blk.cache = "writeback", s.blk.pool_threads = 3;

                                            s.blk.cache_bytes = 1u << 21;
                                          })},
      {"blk_exits",
       small_blk("vmm", [](Scenario& s) { s.blk.kick = "exit", s.blk.interrupt = "ioctl"; })},
      {"blk_aio", small_blk("vmm", [](Scenario& s) { s.blk.engine = "aio"; })},
      {"blk_uring_many", small_blk("vmm",
                                   [&](Scenario& s) {
                                     s.blk.engine = "io_uring";
                                     many(s);
                                   })},
  };
}

std::vector<Named> net_shapes() {
  const auto tx = small("tx");
  const auto rx = small("rx");
  const auto io = small("io");
  Scenario zerocopy = small("tx");
  zerocopy.sink = "macvtap";
  zerocopy.zerocopy = true;
  zerocopy.packet_bytes = 1514;
  Scenario rr = small("rr");
  rr.sink = "host_tcp";
  rr.guest = "vm";
  rr.message_bytes = 1;
  rr.stream_ms = 2;
  return {
      {"rx", rx},
      {"rx_plain", changed(rx, [](Scenario& s) { s.mergeable = false; })},
      {"rx_one_by_one", changed(rx, [](Scenario& s) { s.batch = 1; })},
      {"rx_event_idx", changed(rx, [](Scenario& s) { s.event_idx = true; })},
      {"rx_merged",
       changed(rx, [](Scenario& s) { s.packet_bytes = 1500, s.rx_buffer_bytes = 200; })},
      {"rx_small_ring", changed(rx, [](Scenario& s) { s.ring_size = 4; })},
      {"rx_interrupts",
       changed(rx, [](Scenario& s) { s.guest_notify = "interrupt", s.offered_pps = 1e5; })},
      {"rx_light_poisson",
       changed(rx, [](Scenario& s) { s.offered_pps = 2e5, s.arrival = "poisson"; })},
      {"rx_busy_poll", changed(rx, [](Scenario& s) { s.offered_pps = 2e5, s.busy_poll_us = 20; })},
      {"rx_mapped", changed(rx, [](Scenario& s) { s.plan.map_desc = s.plan.map_used = true; })},
      {"rx_from_a_process", changed(rx, [](Scenario& s) { s.sender = "udp"; })},
      {"io_from_processes",
       changed(io, [](Scenario& s) { s.sender = "udp", s.queue_pairs = 3, s.workers = 2; })},
      {"io", io},
      {"macswap", small("macswap")},
      {"io_pairs", changed(io, [](Scenario& s) { s.queue_pairs = 3, s.workers = 2; })},
      {"io_sent_back",
       changed(io, [](Scenario& s) { s.sink = "xdp_tx", s.queue_pairs = 3, s.workers = 2; })},
      {"tx_sent_back", changed(tx, [](Scenario& s) { s.sink = "xdp_tx"; })},
      {"tx_queues_sent_back",
       changed(tx, [](Scenario& s) { s.sink = "xdp_tx", s.queue_pairs = 3, s.workers = 2; })},
      {"io_redirect", changed(io, [](Scenario& s) { s.sink = "xdp_redirect"; })},
      {"pktgen", changed(small("tx"), [](Scenario& s) { s.guest = "vm-pktgen"; })},
      {"udp_sender", changed(small("tx"), [](Scenario& s) { s.guest = "vm-udp"; })},
      {"udp_sender_small_ring",
       changed(small("tx"),
               [](Scenario& s) {
                 s.guest = "vm-udp", s.ring_size = 4, s.costs = {{"bridge_forward", 3000}};
                 s.sink = "bridge";
               })},
      {"udp_reader",
       changed(rx, [](Scenario& s) { s.guest = "vm-udp", s.iommu = "lazy", s.event_idx = true; })},
      {"udp_reader_light",
       changed(rx,
               [](Scenario& s) { s.guest = "vm-udp", s.dma_merge = true, s.offered_pps = 1e5; })},
      {"xsk_sender", changed(small("tx"), [](Scenario& s) { s.guest = "vm-xsk"; })},
      {"xsk_sender_indirect", changed(small("tx"),
                                      [](Scenario& s) {
                                        s.guest = "vm-xsk", s.indirect = s.event_idx = true,
                                        s.ring_size = 16, s.xsk_ring = 64;
                                      })},
      {"xsk_sender_light", changed(small("tx"),
                                   [](Scenario& s) {
                                     s.guest = "vm-xsk", s.offered_pps = 1e5, s.arrival = "poisson";
                                   })},
      {"xsk_receiver_deferred",
       changed(rx,
               [](Scenario& s) { s.guest = "vm-xsk", s.napi_defer_us = 20, s.offered_pps = 1e6; })},
      {"udp_reader_deferred", changed(rx,
                                      [](Scenario& s) {
                                        s.guest = "vm-udp", s.napi_defer_us = 5, s.iommu = "strict",
                                        s.offered_pps = 3e5;
                                      })},
      {"xsk_receiver", changed(rx, [](Scenario& s) { s.guest = "vm-xsk"; })},
      {"xsk_receiver_small_rings", changed(rx,
                                           [](Scenario& s) {
                                             s.guest = "vm-xsk", s.ring_size = 128, s.xsk_ring = 64,
                                             s.event_idx = true;
                                           })},
      {"zerocopy", zerocopy},
      {"zerocopy_interrupts",
       changed(zerocopy, [](Scenario& s) { s.guest_notify = "interrupt", s.ring_size = 16; })},
      {"tx_queues", changed(tx, [](Scenario& s) { s.queue_pairs = 3, s.workers = 2; })},
      {"tx_queues_one_by_one",
       changed(tx, [](Scenario& s) { s.queue_pairs = 2, s.tx_batching = false; })},
      {"tx_queues_interrupts", changed(tx,
                                       [](Scenario& s) {
                                         s.queue_pairs = 4, s.guest_notify = "interrupt",
                                         s.ring_size = 16;
                                       })},
      {"tx_queues_mapped", changed(tx,
                                   [](Scenario& s) {
                                     s.queue_pairs = s.workers = 2,
                                     s.plan.map_desc = s.plan.map_used = true;
                                   })},
      {"tx_queues_pktgen",
       changed(tx, [](Scenario& s) { s.queue_pairs = 2, s.guest = "vm-pktgen"; })},
      {"tx_queues_light", changed(tx,
                                  [](Scenario& s) {
                                    s.queue_pairs = 5, s.workers = 2, s.offered_pps = 2e5,
                                    s.arrival = "poisson";
                                  })},
      {"rx_queues", changed(rx, [](Scenario& s) { s.queue_pairs = 3, s.workers = 2; })},
      {"rx_queues_of_one_worker", changed(rx, [](Scenario& s) { s.queue_pairs = 5; })},
      {"rx_queues_interrupts", changed(rx,
                                       [](Scenario& s) {
                                         s.queue_pairs = s.workers = 3,
                                         s.guest_notify = "interrupt", s.offered_pps = 1e5;
                                       })},
      {"rx_queues_light",
       changed(rx,
               [](Scenario& s) { s.queue_pairs = 2, s.offered_pps = 2e5, s.arrival = "poisson"; })},
      {"tx_queues_of_one_core",
       changed(tx, [](Scenario& s) { s.queue_pairs = 3, s.workers = 2, s.worker_cores = 1; })},
      {"tx_queues_of_two_cores", changed(tx,
                                         [](Scenario& s) {
                                           s.queue_pairs = s.workers = 5, s.worker_cores = 2,
                                           s.guest_notify = "interrupt", s.ring_size = 16;
                                         })},
      {"rx_queues_of_one_core",
       changed(rx, [](Scenario& s) { s.queue_pairs = s.workers = 3, s.worker_cores = 1; })},
      {"rx_queues_of_two_cores_light", changed(rx,
                                               [](Scenario& s) {
                                                 s.queue_pairs = s.workers = 3, s.worker_cores = 2,
                                                 s.offered_pps = 2e5, s.arrival = "poisson";
                                               })},
      {"io_of_one_core_in_short_slices",
       changed(io,
               [](Scenario& s) {
                 s.queue_pairs = s.workers = 2, s.worker_cores = 1, s.costs = {{"time_slice", 20}};
               })},
      {"rr", rr},
      {"rr_pairs",
       changed(rr, [](Scenario& s) { s.sessions = 5, s.queue_pairs = 3, s.workers = 2; })},
      {"rr_pairs_of_one_processor",
       changed(rr, [](Scenario& s) { s.sessions = 8, s.queue_pairs = 4, s.vcpus = 1; })},
      {"rr_pairs_of_one_core", changed(rr,
                                       [](Scenario& s) {
                                         s.sessions = 4, s.queue_pairs = s.workers = 2,
                                         s.worker_cores = 1;
                                       })},
      {"rr_many", changed(rr, [](Scenario& s) { s.sessions = 8, s.vcpus = 2; })},
  };
}

const CoreResult& core(const RunResult& r, std::string_view wanted) {
  for (const CoreResult& c : r.cores) {
    if (c.name == wanted) return c;
  }
  throw std::logic_error("no such core");
}
std::uint64_t count(const RunResult& r, Cost cost, Step step) {
  for (const LedgerRow& row : core(r, "worker").ledger) {
    if (row.cost == cost && row.step == step) return row.count;
  }
  return 0;
}

std::vector<Named> shapes() {
  std::vector<Named> all = net_shapes();
  for (const Named& blk : blk_shapes()) all.push_back(blk);
  return all;
}

class Workload : public testing::TestWithParam<Named> {};

TEST_P(Workload, moves_packets_and_accounts_for_each_picosecond) {
  const Scenario& s = GetParam().scenario;
  const RunResult r = run(s);
  const std::uint64_t lost = s.sink == "xdp_tx" ? r.dropped : 0;
  EXPECT_GT(r.packets + lost, s.workload == "rr" ? 0u : s.packets - 1);
  EXPECT_EQ(r.refused, 0u);
  EXPECT_EQ(r.blk.failed, 0u);
  for (const CoreResult& c : r.cores) {
    std::uint64_t sum = 0;
    for (const LedgerRow& row : c.ledger) sum += row.ps;
    EXPECT_EQ(sum, c.busy_ps) << c.name;
  }
}

TEST_P(Workload, gives_the_same_result_each_time) {
  const Scenario& s = GetParam().scenario;
  EXPECT_EQ(test::text_of(run(s)), test::text_of(run(s)));
}

TEST_P(Workload, permuted_ties_change_nothing) {
  Scenario s = GetParam().scenario;
  const std::string in_order = test::text_of(run(s));
  for (s.tie_seed = 1; s.tie_seed <= 4; ++s.tie_seed)
    EXPECT_EQ(test::text_of(run(s)) == in_order, true) << s.tie_seed;
}

TEST_P(Workload, stops_when_it_is_told_to) {
  Scenario s = GetParam().scenario;
  RunControl control;
  run(s, &control);
  if (s.workload == "blk") {
    EXPECT_EQ(control.packets_done.load(), s.packets);
  }
  EXPECT_GT(control.packets_done.load(), 0u);
  control.stop = true;
  EXPECT_THROW(run(s, &control), Stopped);
}

INSTANTIATE_TEST_SUITE_P(All, Workload, testing::ValuesIn(shapes()),
                         [](const auto& row) { return row.param.name; });

// 1e14 ps an I/O: 64 bits would hold 184467 of them.
TEST(Block, a_run_beyond_the_end_of_the_clock_is_refused) {
  for (const auto& [name, scenario] : blk_shapes()) {
    Scenario s = scenario;
    s.costs = {{"fio_io", 9e11}};
    s.packets = 60000;
    try {
      run(s);
      ADD_FAILURE() << name;
    } catch (const std::invalid_argument& refusal) {
      EXPECT_NE(std::string(refusal.what()).find("simulated days"), std::string::npos)
          << refusal.what();
    }
  }
}

// Empty polls accounted in a row are the polls that a step each would have made.
TEST(Polls, skipped_polls_are_the_polls_of_the_long_way) {
  for (auto [name, scenario] : shapes()) {
    if (scenario.workload != "rx" && scenario.queue_pairs == 1) continue;
    scenario.skip_polls = false;
    const std::string stepped = test::text_of(run(scenario));
    scenario.skip_polls = true;
    EXPECT_EQ(test::text_of(run(scenario)), stepped) << name;
  }
}

TEST(Receive, a_generator_that_is_too_fast_loses_what_the_ring_has_no_room_for) {
  EXPECT_GT(run(small("rx")).dropped, 0u);
  Scenario slow = small("rx");
  slow.offered_pps = 1e5;
  const RunResult r = run(slow);
  EXPECT_EQ(r.dropped, 0u);
  EXPECT_GT(r.wakeups, slow.packets / 2);  // the worker sleeps between packets
}

// It makes a message in the time of a system call and of the stack, and pays to wake who sleeps;
// what finds no room is lost to it too.
TEST(Receive, a_process_that_sends_by_udp_takes_its_time) {
  Scenario s = small("rx");
  s.sender = "udp";
  s.costs = {{"reader_wake", 0},
             {"socket_message", 100},
             {"syscall.kpti_pcid", 520},   // cycles: 200 ns at 2.6 GHz
             {"sendmsg_udp_small", 1300},  // at 2.8 GHz: 1400 ns
             {"spin_lock_unlock", 0},
             {"ptr_ring_entry", 0},
             {"line_transfer.same_socket", 0},
             {"store_exposed", 0},
             {"load.dram", 0}};
  const double own = run(s).rate_pps;
  EXPECT_NEAR(own, 1e9 / 1700, 1e9 / 1700 / 100);
  s.costs[0] = {"reader_wake", 1700};
  const RunResult waking = run(s);
  EXPECT_GT(waking.wakeups, s.packets / 4);
  const double wakeups = static_cast<double>(waking.wakeups) / static_cast<double>(s.packets);
  EXPECT_NEAR(waking.rate_pps, own / (1 + wakeups), own / 100);

  s.costs = {{"tun_receive_call", 10000}};
  const RunResult slow = run(s);
  EXPECT_GT(slow.dropped, 0u);
  s.skip_polls = false;
  EXPECT_EQ(test::text_of(run(s)), test::text_of(slow));
}

TEST(Receive, num_buffers_is_one_more_copy_where_buffers_are_merged) {
  Scenario s = small("rx");
  const std::uint64_t merged = count(run(s), Cost::kCopyStartup, Step::kHeaderCopy);
  s.mergeable = false;
  EXPECT_NEAR(static_cast<double>(merged),
              2.0 * static_cast<double>(count(run(s), Cost::kCopyStartup, Step::kHeaderCopy)), 200);
}

TEST(Receive, a_plain_buffer_that_is_too_small_drops_the_packet) {
  Scenario s = small("rx");
  s.packet_bytes = 1500;
  s.rx_buffer_bytes = 200;
  EXPECT_EQ(run(s).bytes, s.packets * 1500);
  s.mergeable = false;
  s.packets = 10;
  EXPECT_THROW(run(s), std::invalid_argument);  // it would never end
}

TEST(Pairs, workers_share_the_queues) {
  Scenario s = small("io");
  s.queue_pairs = 4;
  const double one = run(s).rate_pps;
  s.workers = 2;
  const double two = run(s).rate_pps;
  s.workers = 4;
  EXPECT_NEAR(two / one, 2, 0.2);
  EXPECT_NEAR(run(s).rate_pps / one, 4, 0.4);
}

// Each workload by itself: as fast as there are workers.
TEST(Pairs, queues_of_tx_and_rx_scale_with_workers) {
  for (const char* workload : {"tx", "rx"}) {
    Scenario s = small(workload);
    s.packets = 20000;
    s.queue_pairs = 4;
    const double one = run(s).rate_pps;
    s.workers = 2;
    EXPECT_NEAR(run(s).rate_pps / one, 2, 0.1) << workload;
    s.workers = 4;
    EXPECT_NEAR(run(s).rate_pps / one, 4, 0.2) << workload;
  }
}

// A worker with several queues is about as fast as with one.
TEST(Pairs, queues_of_one_worker_share_it) {
  for (const char* workload : {"tx", "rx"}) {
    Scenario s = small(workload);
    s.packets = 20000;
    const double alone = run(s).rate_pps;
    s.queue_pairs = 2;
    EXPECT_NEAR(run(s).rate_pps / alone, 1, 0.2) << workload;
    s.queue_pairs = s.workers = 2;
    EXPECT_NEAR(run(s).rate_pps / alone, 2, 0.1) << workload;
  }
}

// A worker without a queue sleeps.
TEST(Pairs, more_workers_than_queues_change_nothing) {
  for (const char* workload : {"tx", "rx"}) {
    Scenario s = small(workload);
    const std::string one = test::text_of(run(s));
    s.workers = 2;
    EXPECT_EQ(test::text_of(run(s)) == one, true) << workload;
    s.queue_pairs = 2;
    const double two = run(s).rate_pps;
    s.workers = 5;
    EXPECT_EQ(run(s).rate_pps, two) << workload;
  }
}

std::uint64_t switches(const RunResult& r) {
  std::uint64_t sum = 0;
  for (const LedgerRow& row : core(r, "worker").ledger) {
    if (row.cost == Cost::kContextSwitch) sum += row.count;
  }
  return sum;
}

// Several slices long, each as short as the row's range has it.
constexpr double kSliceUs = 750;
Scenario two_queues(const char* workload, std::uint32_t workers, std::uint32_t cores) {
  Scenario s = small(workload);
  s.packets = 50000;
  s.costs = {{"time_slice", kSliceUs}};
  s.queue_pairs = 2;
  s.workers = workers;
  s.worker_cores = cores;
  return s;
}

// Half as fast as on two cores, and as fast as one worker but for the switches.
TEST(SharedCores, saturated_workers_have_half_of_it_each) {
  for (const char* workload : {"tx", "rx", "io"}) {
    const double one = run(two_queues(workload, 1, 0)).rate_pps;
    const double two = run(two_queues(workload, 2, 2)).rate_pps;
    const RunResult shared = run(two_queues(workload, 2, 1));
    EXPECT_NEAR(shared.rate_pps / two, 0.5, 0.03) << workload;
    EXPECT_NEAR(shared.rate_pps / one, 1, 0.03) << workload;
    // Every slice ends with a switch.
    const auto slices = static_cast<double>(shared.elapsed_ps) / (kSliceUs * 1e6);
    EXPECT_NEAR(static_cast<double>(switches(shared)), slices, 0.2 * slices) << workload;
  }
}

TEST(SharedCores, as_many_as_workers_are_those_that_workers_have_by_themselves) {
  for (const char* workload : {"tx", "rx", "io"})
    EXPECT_EQ(test::text_of(run(two_queues(workload, 2, 2))) ==
                  test::text_of(run(two_queues(workload, 2, 0))),
              true);
}

TEST(SharedCores, a_worker_that_sleeps_costs_the_others_nothing) {
  for (const char* workload : {"tx", "rx", "io"}) {
    const std::string alone = test::text_of(run(two_queues(workload, 2, 0)));
    EXPECT_EQ(test::text_of(run(two_queues(workload, 4, 2))) == alone, true) << workload;
    EXPECT_EQ(test::text_of(run(two_queues(workload, 3, 2))) == alone, true) << workload;
  }
}

// What lies in a ring when its worker has to wait waits for the slices of the others.
TEST(SharedCores, latency_grows_by_slices) {
  Scenario s = two_queues("tx", 2, 2);
  const std::uint64_t own_ps = run(s).latency.max_ps;
  s.worker_cores = 1;
  for (const double slice_us : {750.0, 3000.0}) {
    s.costs = {{"time_slice", slice_us}};
    const RunResult r = run(s);
    EXPECT_NEAR(static_cast<double>(r.latency.max_ps), slice_us * 1e6 + static_cast<double>(own_ps),
                0.05 * slice_us * 1e6);
  }
}

// Where work comes now and then, threads sleep before their slice is over.
TEST(SharedCores, light_queues_wait_for_one_another_and_not_for_slices) {
  Scenario s = two_queues("rx", 2, 1);
  s.packets = 5000;
  s.offered_pps = 1e4;
  s.arrival = "poisson";
  const RunResult r = run(s);
  EXPECT_LT(r.latency.max_ps, 100'000'000u);
  EXPECT_EQ(switches(r), r.wakeups);
}

TEST(Pairs, exchanging_addresses_costs_the_worker_a_line) {
  EXPECT_LT(run(small("macswap")).rate_pps, run(small("io")).rate_pps);
}

TEST(Pktgen, a_guest_kernel_is_called_when_its_ring_has_room) {
  const RunResult r = run(changed(small("tx"), [](Scenario& s) { s.guest = "vm-pktgen"; }));
  EXPECT_GT(r.interrupts, 0u);
  EXPECT_EQ(r.packets, 3000u);
}

TEST(ZeroCopy, pays_for_long_frames_and_not_for_short_ones) {
  Scenario s = small("tx");
  s.sink = "macvtap";
  s.zerocopy_min_bytes = 14;
  for (const auto& [bytes, pays] : {std::pair{64u, false}, {16384u, true}}) {
    s.packet_bytes = bytes;
    s.zerocopy = false;
    const double copied = run(s).rate_pps;
    s.zerocopy = true;
    const RunResult lent = run(s);
    EXPECT_EQ(lent.lent, s.packets);
    EXPECT_EQ(lent.rate_pps > copied, pays) << bytes;
  }
}

TEST(ZeroCopy, short_frames_are_copied) {
  Scenario s = small("tx");
  s.sink = "bridge";
  s.zerocopy = true;
  s.packet_bytes = 255;
  EXPECT_EQ(run(s).lent, 0u);
  s.packet_bytes = 256;
  EXPECT_EQ(run(s).lent, s.packets);
}

TEST(Requests, take_as_long_as_they_take) {
  Scenario s = small("rr");
  s.sink = "host_tcp";
  s.guest = "vm";
  s.message_bytes = 1;
  s.stream_ms = 4;
  const RunResult one = run(s);
  // One request at a time: as many as fit, one after the other, the writer woken between.
  EXPECT_NEAR(static_cast<double>(one.latency.mean_ps) * static_cast<double>(one.packets), 4e9,
              0.5e9);
  s.sessions = 4;
  const RunResult four = run(s);
  EXPECT_GT(four.packets, 2 * one.packets);
  EXPECT_GT(four.latency.p99_ps, one.latency.p50_ps);
}

}  // namespace
}  // namespace vringlab::sim
