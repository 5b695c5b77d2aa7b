// Block scenarios at random, odd ones among them: every I/O is done, no picosecond lacks a name,
// and the same scenario gives the same result.
#include <gtest/gtest.h>

#include <random>

#include "sim/cost/rows.h"
#include "sim/run/run.h"
#include "tests/double/run_text.h"

namespace vringlab::sim {
namespace {

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}

  Scenario make() {
    Scenario s{.workload = "blk", .packets = any<std::uint64_t>({1, 2, 3, 50, 300})};
    s.kernel = any<const char*>({"v5.0", "v6.2", "bare"});
    s.vcpus = any<std::uint32_t>({1, 1, 2, 4});
    s.blk.queues = 1 + below(s.vcpus);
    s.workers = 1 + below(s.blk.queues);
    s.ring_size = any<std::uint32_t>({256, 256, 16, 4});
    s.indirect = one_in(2);
    s.event_idx = one_in(2);
    s.batch = any<std::uint32_t>({1, 3, 64});
    s.weight_packets = any<std::uint32_t>({1, 2, 256});
    s.tie_seed = below(3);
    s.plan = {.map_desc = one_in(2), .map_avail = one_in(2), .map_used = one_in(2)};
    jobs(s);
    layers(s);
    form(s.blk);
    if (one_in(6)) make_free(s);
    return s;
  }

 private:
  template <class T>
  T any(std::initializer_list<T> values) {
    return values.begin()[random_() % values.size()];
  }
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }
  bool one_in(std::uint32_t n) { return below(n) == 0; }

  void jobs(Scenario& s) {
    BlkScenario& b = s.blk;
    b.operation = any<const char*>({"read", "write", "mixed", "write-read"});
    b.pattern = any<const char*>({"random", "sequential"});
    b.block_bytes = any<std::uint64_t>({4096, 8192, 65536, 512, 5120, 51200});
    b.jobs = any<std::uint32_t>({1, 1, 2, 5, 64});
    b.queue_depth = any<std::uint32_t>({1, 1, 2, 7, 32});
    b.flush_every = any<std::uint32_t>({0, 0, 1, 7});
    b.data = one_in(2);
    if (b.operation == "write-read")
      s.packets = std::max(s.packets, 2 * std::uint64_t{b.jobs} * b.queue_depth);
  }
  void layers(Scenario& s) {
    BlkScenario& b = s.blk;
    b.segment_bytes = any<std::uint32_t>({4096, 512, 1536, 65536});
    b.max_segments = std::min(any<std::uint32_t>({1, 2, 14, 128}), s.ring_size - 2);
    b.request_bytes = any<std::uint64_t>({524288, 4096, 3584, 12288});
    b.read_ahead_bytes = any<std::uint64_t>({0, 131072, 4096, 262144, 5000});
    b.cache_bytes = any<std::uint64_t>({1u << 20, (1u << 20) + 7 * 4096, 1u << 24});
    b.dirty_share = any<double>({0, 0.001, 0.2, 0.9});
    b.background_share = b.dirty_share * any<double>({0, 0.5, 1});
    b.pool_threads = any<std::uint32_t>({1, 2, 64});
    b.merge_writes = one_in(2);
  }
  void form(BlkScenario& b) {
    b.form = any<const char*>({"host", "vhost-bio", "vhost-2010", "vhost-2010", "vmm", "vmm"});
    b.disk = any<const char*>({"array-2010", "sata-ssd", "nvme", "ram"});
    b.engine = any<const char*>({"threads", "threads", "aio", "io_uring"});
    b.kick = any<const char*>({"ioeventfd", "exit"});
    b.interrupt = any<const char*>({"irqfd", "ioctl"});
    if (b.form == "vhost-2010" || (b.form == "vmm" && b.engine == "threads" && one_in(2))) cache(b);
    if (b.form != "host" && one_in(6)) b.sector_shift = 8;
    // Half as far apart, requests have to be pairs of pages.
    if (b.cache != "none" && b.sector_shift == 8) b.segment_bytes = 8192, b.request_bytes = 8192;
    // As little as fits, or a part of a sector's neighbours more.
    b.disk_bytes = b.block_bytes * b.jobs * (1 + below(20)) + 512 * below(9);
  }
  void cache(BlkScenario& b) {
    b.cache = any<const char*>({"writeback", "writethrough"});
    if (b.disk == "ram") b.disk = "nvme";
    b.block_bytes = (b.block_bytes + 8191) / 8192 * 8192;
    b.segment_bytes = 4096;
    b.request_bytes = 8192;
  }
  static void make_free(Scenario& s) {
    for (const CostRow& row : cost_rows()) {
      if (!row.name.starts_with("disk_sequential")) s.costs.push_back({std::string(row.name), 0});
    }
  }

  std::mt19937_64 random_;
};

void expect_whole(const Scenario& s) {
  const RunResult r = run(s);
  EXPECT_EQ(r.packets, s.packets);
  EXPECT_EQ(r.bytes, s.packets * s.blk.block_bytes);
  EXPECT_EQ(r.refused, 0u);
  EXPECT_EQ(r.blk.failed, 0u);
  EXPECT_LE(r.latency.max_ps, r.elapsed_ps);
  for (const CoreResult& c : r.cores) {
    std::uint64_t sum = 0;
    for (const LedgerRow& row : c.ledger) sum += row.ps;
    EXPECT_EQ(sum, c.busy_ps) << c.name;
  }
  const bool in_order = s.blk.jobs == 1 && s.blk.queue_depth == 1 && s.blk.sector_shift == 9;
  if (in_order) {
    EXPECT_EQ(r.blk.wrong_bytes, 0u);
  }
  if (s.blk.cache == "none" && s.blk.disk != "ram") {
    EXPECT_EQ(r.blk.disk_read_bytes + r.blk.disk_write_bytes, r.bytes);
  }
  EXPECT_EQ(test::text_of(r), test::text_of(run(s)));
}

TEST(RandomBlock, every_io_is_done_and_every_picosecond_has_a_name) {
  for (std::uint64_t seed = 1; seed <= 120 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Scenario s = Maker(seed).make();
    expect_whole(s);
  }
}

}  // namespace
}  // namespace vringlab::sim
