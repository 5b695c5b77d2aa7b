// Results of a handful of scenarios, equal to the committed ones to the picosecond,
// with every compiler. After a change that is meant to move them, write them anew:
//
//   VRINGLAB_GOLDEN=write build/dev/vringlab_tests --gtest_filter='Golden*'
//
// and let the commit say why each of them moved.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "sim/run/run.h"

namespace vringlab::sim {
namespace {

const std::string kFile = std::string(VRINGLAB_SOURCE_DIR) + "/tests/golden/runs.csv";
constexpr const char* kColumns = "scenario,metric,value";

struct Named {
  const char* name;
  Scenario scenario;
};

std::vector<Named> scenarios() {
  const AccessPlan mapped = {
      .map_desc = true, .map_avail = true, .map_used = true, .guard = Guard::kRcu};
  const AccessPlan section = {.user_access = UserAccess::kSection,
                              .section_span = SectionSpan::kSeveralAreas};
  AccessPlan invalidated = mapped;
  invalidated.guard = Guard::kSpinlock;
  return {
      {"user_access", {}},
      {"mapped", {.plan = mapped}},
      {"section", {.plan = section}},
      {"v6.2_two_words_one_by_one",
       {.kernel = "v6.2", .plan = {.used_element = UsedElement::kTwoWords}, .batch = 1}},
      {"nosmap_mapped", {.kernel = "v5.0-nosmap", .plan = mapped}},
      {"interrupt_event_idx",
       {.guest = "vm", .guest_notify = "interrupt", .packet_bytes = 1500, .event_idx = true}},
      {"indirect_poisson",
       {.host = "zen2-3.3",
        .split_header = true,
        .offered_pps = 1e6,
        .arrival = "poisson",
        .indirect = true,
        .busy_poll_us = 2,
        .seed = 7}},
      {"inline_kicks", {.packets = 20000, .offered_pps = 1e5, .inline_packets = 2}},
      {"invalidated_copy_batch",
       {.plan = invalidated, .copy_batch = 16, .invalidations_per_s = 12345}},
      {"remote_large_ring",
       {.distance = "remote", .ring_remote = true, .guest_page_bytes = 4096, .ring_size = 4096}},
      {"one_a_call", {.sink = "macvtap", .tx_batching = false}},
      {"redirected_long_frames",
       {.packets = 5000, .packet_bytes = 9000, .sink = "xdp_redirect", .nic_pps = 5e5}},
      {"read_back", {.packets = 20000, .sink = "xdp_tx"}},
      {"lent", {.packets = 5000, .packet_bytes = 4000, .sink = "bridge", .zerocopy = true}},
      {"received", {.workload = "rx", .packets = 20000}},
      {"received_merged",
       {.workload = "rx", .packets = 5000, .packet_bytes = 1500, .rx_buffer_bytes = 200}},
      {"received_bounced",
       {.workload = "rx",
        .guest = "vm-kernel",
        .guest_notify = "interrupt",
        .packets = 5000,
        .iommu = "swiotlb",
        .dma_merge = true}},
      {"received_behind_a_lazy_iommu",
       {.workload = "rx",
        .guest = "vm-kernel",
        .guest_notify = "interrupt",
        .packets = 5000,
        .iommu = "lazy"}},
      {"received_while_resized",
       {.workload = "rx",
        .guest = "vm-kernel",
        .guest_notify = "interrupt",
        .packets = 5000,
        .iommu = "strict",
        .event_idx = true,
        .resizes_per_s = 1000}},
      {"received_by_kernels",
       {.workload = "rx",
        .guest = "vm-kernel",
        .guest_notify = "interrupt",
        .packets = 10000,
        .iommu = "strict",
        .queue_pairs = 3,
        .workers = 2}},
      {"sent_back", {.workload = "macswap", .packets = 5000, .queue_pairs = 3, .workers = 2}},
      {"sent_by_queues",
       {.guest_notify = "interrupt",
        .packets = 20000,
        .queue_pairs = 5,
        .workers = 2,
        .plan = mapped}},
      {"received_by_queues", {.workload = "rx", .packets = 20000, .queue_pairs = 3, .workers = 2}},
      {"workers_of_two_cores",
       {.costs = {{"time_slice", 200}},
        .workload = "macswap",
        .packets = 10000,
        .queue_pairs = 3,
        .workers = 3,
        .worker_cores = 2}},
      {"streams",
       {.workload = "stream",
        .guest = "vm",
        .message_bytes = 777,
        .sessions = 5,
        .sink = "host_tcp"}},
      {"streams_of_pairs",
       {.workload = "stream",
        .guest = "vm",
        .queue_pairs = 3,
        .workers = 2,
        .message_bytes = 777,
        .sessions = 5,
        .sink = "host_tcp"}},
      {"requests",
       {.workload = "rr", .guest = "vm", .message_bytes = 3000, .sessions = 3, .sink = "host_tcp"}},
      {"udp_sent", {.guest = "vm-udp", .packets = 10000, .event_idx = true, .sink = "bridge"}},
      {"udp_received",
       {.workload = "rx",
        .guest = "vm-udp",
        .packets = 10000,
        .iommu = "lazy",
        .dma_merge = true,
        .event_idx = true}},
      {"udp_received_from_a_process",
       {.workload = "rx", .guest = "vm-udp", .packets = 10000, .sender = "udp", .event_idx = true}},
      {"xsk_sent",
       {.guest = "vm-xsk",
        .packets = 10000,
        .event_idx = true,
        .indirect = true,
        .sink = "bridge"}},
      {"xsk_received",
       {.workload = "rx",
        .guest = "vm-xsk",
        .packets = 10000,
        .iommu = "strict",
        .event_idx = true}},
  };
}

// Jobs that mix reads and writes, small enough to finish soon.
Scenario blk(const BlkScenario& asked) {
  Scenario s{.workload = "blk", .packets = 3000, .blk = asked};
  s.blk.disk_bytes = 1u << 24;
  s.blk.operation = "mixed";
  s.blk.flush_every = 100;
  s.blk.data = true;
  return s;
}

std::vector<Named> blk_scenarios() {
  Scenario many = blk({.disk = "ram", .queues = 3, .jobs = 8});
  many.workers = 2;
  many.indirect = many.event_idx = true;
  return {
      {"blk_host", blk({.form = "host"})},
      {"blk_bio", blk({})},
      {"blk_bio_ram_many_queues", many},
      {"blk_2010", blk({.form = "vhost-2010",
                        .cache = "writethrough",
                        .sector_shift = 8,
                        .pattern = "sequential",
                        .block_bytes = 8192})},
      {"blk_2010_writeback",
       blk({.form = "vhost-2010", .cache = "writeback", .cache_bytes = 1u << 21})},
      {"blk_threads", blk({.form = "vmm",
                           .disk = "array-2010",
                           .cache = "writeback",
                           .pool_threads = 4,
                           .cache_bytes = 1u << 21})},
      {"blk_exits", blk({.form = "vmm", .kick = "exit", .interrupt = "ioctl", .queue_depth = 4})},
      {"blk_aio", blk({.form = "vmm", .engine = "aio", .pattern = "sequential"})},
      {"blk_uring_ram", blk({.form = "vmm", .disk = "ram", .engine = "io_uring"})},
  };
}

class Table {
 public:
  void add(const std::string& scenario, const std::string& metric, std::uint64_t value) {
    lines_.push_back(scenario + "," + metric + "," + std::to_string(value));
  }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_{kColumns};
};

// Where a core's time went by cost; costs it never had are left out.
void add_costs(Table& table, const std::string& scenario, const CoreResult& core) {
  std::array<std::uint64_t, kCosts> by_cost{};
  for (const LedgerRow& row : core.ledger) by_cost[index(row.cost)] += row.ps;
  for (std::size_t i = 0; i < kCosts; ++i) {
    if (by_cost[i] > 0)
      table.add(scenario, core.name + "." + std::string(name(static_cast<Cost>(i))) + "_ps",
                by_cost[i]);
  }
}

void add_result(Table& table, const std::string& scenario, const RunResult& r) {
  table.add(scenario, "packets", r.packets);
  table.add(scenario, "elapsed_ps", r.elapsed_ps);
  table.add(scenario, "batches", r.batches);
  table.add(scenario, "kicks", r.kicks);
  table.add(scenario, "calls", r.calls);
  table.add(scenario, "wakeups", r.wakeups);
  table.add(scenario, "interrupts", r.interrupts);
  table.add(scenario, "inline_packets", r.inline_packets);
  table.add(scenario, "invalidations", r.invalidations);
  table.add(scenario, "pinned_bytes", r.pinned_bytes);
  table.add(scenario, "latency.p50_ps", r.latency.p50_ps);
  table.add(scenario, "latency.p99_ps", r.latency.p99_ps);
  table.add(scenario, "guest_memory_hash", r.guest_memory_hash);
  for (const CoreResult& core : r.cores) table.add(scenario, core.name + ".busy_ps", core.busy_ps);
  add_costs(table, scenario, r.cores.at(1));
}

void add_blk(Table& table, const std::string& scenario, const BlkResult& blk) {
  table.add(scenario, "blk.requests", blk.requests);
  table.add(scenario, "blk.merged", blk.merged);
  table.add(scenario, "blk.disk_requests", blk.disk_requests);
  table.add(scenario, "blk.disk_busy_ps", blk.disk_busy_ps);
  table.add(scenario, "blk.cache_hit_pages", blk.cache_hit_pages);
  table.add(scenario, "blk.cache_miss_pages", blk.cache_miss_pages);
  table.add(scenario, "blk.data_hash", blk.data_hash);
}

std::vector<std::string> results() {
  Table table;
  for (const auto& [name, scenario] : scenarios()) add_result(table, name, run(scenario));
  for (const auto& [name, scenario] : blk_scenarios()) {
    const RunResult result = run(scenario);
    add_result(table, name, result);
    add_blk(table, name, result.blk);
  }
  return table.lines();
}

std::vector<std::string> committed() {
  std::ifstream file(kFile);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

void write(const std::vector<std::string>& lines) {
  std::ofstream file(kFile);
  for (const std::string& line : lines) file << line << '\n';
}

// Lines of `a` that `b` has not, each behind `mark`.
std::string missing(const std::vector<std::string>& a, const std::vector<std::string>& b,
                    char mark) {
  const std::set<std::string> other(b.begin(), b.end());
  std::string text;
  for (const std::string& line : a) {
    if (!other.contains(line)) text += mark + line + '\n';
  }
  return text;
}

TEST(Golden, results_are_the_committed_ones) {
  const std::vector<std::string> lines = results();
  const char* mode = std::getenv("VRINGLAB_GOLDEN");
  if (mode != nullptr && std::string(mode) == "write") write(lines);
  const std::vector<std::string> expected = committed();
  EXPECT_TRUE(lines == expected) << "- committed, + now:\n"
                                 << missing(expected, lines, '-') << missing(lines, expected, '+')
                                 << "if that is meant, see the top of " << __FILE__;
}

}  // namespace
}  // namespace vringlab::sim
