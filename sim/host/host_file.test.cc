#include "sim/host/host_file.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/double/model_machine.h"

namespace vringlab::sim {
namespace {

constexpr std::uint64_t kPage = kCachePageBytes;
constexpr std::uint64_t kUs = 1000000;

struct Rig {
  test::ModelMachine machine{{}};
  Core& core = machine.device_core;
  Disk disk{{.read = {10 * kUs, 100 * kUs, 1000},
             .write = {20 * kUs, 50 * kUs, 1000},
             .seek_ps = 0,
             .turn_ps = 0,
             .flush_ps = 500 * kUs},
            {}};
  HostFile file;
  std::vector<FileOp> ops = std::vector<FileOp>(4);  // by thread

  explicit Rig(const HostFileConfig& config) : file(&disk, config, 4) {}

  // Begins an operation of a thread; true: it is done.
  bool begin(std::uint32_t thread, BlkOp op, std::uint64_t page, std::uint64_t pages) {
    ops[thread] = {.op = op, .offset = page * kPage, .bytes = pages * kPage};
    return go_on(thread);
  }
  bool go_on(std::uint32_t thread) { return file.advance(core, thread, ops[thread]); }
  // One request of the disk completes.
  void complete() {
    core.idle_until(disk.core().now());
    disk.step();
    while (disk.completed()) {
      const DiskClient client = disk.take();
      file.disk_done(client,
                     client.kind == DiskClient::Kind::kThread ? &ops[client.index] : nullptr);
    }
  }
  // Threads that were woken, in order of their numbers.
  std::vector<std::uint32_t> woken() {
    std::vector<std::uint32_t> threads;
    while (file.any_woken()) threads.push_back(file.take_woken());
    std::ranges::sort(threads);
    return threads;
  }
  // Until the operation is done; everything that can be written back is.
  void finish(std::uint32_t thread) {
    for (int i = 0; i < 1000; ++i) {
      while (file.wants_writing()) file.write_back(core);
      if (disk.runnable()) complete();
      const auto threads = woken();
      if (std::ranges::find(threads, thread) != threads.end() && go_on(thread)) return;
    }
    FAIL() << "it waits for ever";
  }
  void do_all(BlkOp op, std::uint64_t page, std::uint64_t pages) {
    if (!begin(0, op, page, pages)) finish(0);
  }
};

using Threads = std::vector<std::uint32_t>;

HostFileConfig cached(CacheMode mode) {
  return {.mode = mode,
          .capacity_bytes = 4096 * kPage,
          .cache_pages = 64,
          .read_ahead_pages = 8,
          .dirty_limit_pages = 8,
          .dirty_background_pages = 4};
}

TEST(HostFile, past_the_cache_every_operation_waits_for_the_disk) {
  Rig rig({.capacity_bytes = 4096 * kPage});
  for (const BlkOp op : {BlkOp::kRead, BlkOp::kWrite, BlkOp::kRead}) {
    EXPECT_FALSE(rig.begin(1, op, 3, 2));
    EXPECT_TRUE(rig.woken().empty());
    rig.complete();
    EXPECT_EQ(rig.woken(), Threads{1});
    EXPECT_TRUE(rig.go_on(1));
  }
  EXPECT_EQ(rig.disk.counters().read_bytes, 4 * kPage);
  EXPECT_EQ(rig.disk.counters().write_bytes, 2 * kPage);
  EXPECT_EQ(rig.file.counters().hit_pages, 0u);
}

TEST(HostFile, what_is_too_long_for_the_disk_is_several_requests_and_all_are_waited_for) {
  Rig rig({.capacity_bytes = 4096 * kPage, .max_request_bytes = 2 * kPage});
  EXPECT_FALSE(rig.begin(0, BlkOp::kRead, 0, 5));
  EXPECT_EQ(rig.ops[0].outstanding, 3u);
  rig.complete();
  rig.complete();
  EXPECT_TRUE(rig.woken().empty());
  rig.complete();
  EXPECT_EQ(rig.woken(), Threads{0});
}

TEST(HostFile, a_ram_disk_is_done_at_once) {
  test::ModelMachine machine({});
  HostFile file(nullptr, {}, 1);
  for (const BlkOp kind : {BlkOp::kRead, BlkOp::kWrite, BlkOp::kFlush}) {
    FileOp op{.op = kind, .offset = 0, .bytes = kPage};
    EXPECT_TRUE(file.advance(machine.device_core, 0, op));
  }
}

TEST(HostFile, a_page_is_read_from_the_disk_once) {
  Rig rig(cached(CacheMode::kWriteBack));
  rig.do_all(BlkOp::kRead, 100, 2);
  EXPECT_EQ(rig.file.counters().miss_pages, 1u);  // waited for once
  EXPECT_EQ(rig.disk.counters().read_bytes, 2 * kPage);
  EXPECT_TRUE(rig.begin(0, BlkOp::kRead, 100, 2));
  EXPECT_EQ(rig.file.counters().miss_pages, 1u);
  EXPECT_EQ(rig.disk.counters().read_bytes, 2 * kPage);
}

TEST(HostFile, reads_in_sequence_are_read_ahead) {
  Rig rig(cached(CacheMode::kWriteBack));
  for (std::uint64_t page = 0; page < 32; ++page) rig.do_all(BlkOp::kRead, page, 1);
  const HostFileCounters& pages = rig.file.counters();
  EXPECT_EQ(pages.hit_pages + pages.miss_pages, 32u);
  EXPECT_LT(rig.file.counters().miss_pages, 16u);
  EXPECT_LT(rig.disk.counters().requests, 8u);
}

TEST(HostFile, reads_out_of_sequence_are_not) {
  Rig rig(cached(CacheMode::kWriteBack));
  for (std::uint64_t i = 1; i <= 32; ++i) rig.do_all(BlkOp::kRead, i * 97, 1);
  EXPECT_EQ(rig.file.counters().miss_pages, 32u);
  EXPECT_EQ(rig.disk.counters().read_bytes, 32 * kPage);
}

TEST(HostFile, a_file_ends) {
  HostFileConfig config = cached(CacheMode::kWriteBack);
  config.capacity_bytes = 5 * kPage;
  config.read_ahead_pages = 16;
  Rig rig(config);
  for (std::uint64_t page = 0; page < 5; ++page) rig.do_all(BlkOp::kRead, page, 1);
  while (rig.disk.runnable()) rig.complete();
  EXPECT_EQ(rig.disk.counters().read_bytes, 5 * kPage);
}

// A device that puts sectors half as far apart: each read begins in the middle of the last.
TEST(HostFile, reads_that_overlap_read_the_disk_once) {
  HostFileConfig config = cached(CacheMode::kWriteThrough);
  config.cache_pages = 1024;
  config.read_ahead_pages = 32;
  Rig rig(config);
  for (std::uint64_t i = 0; i < 50; ++i) rig.do_all(BlkOp::kRead, 4 * i, 8);
  while (rig.disk.runnable()) rig.complete();
  const std::uint64_t pages = 4 * 49 + 8;
  EXPECT_EQ(rig.file.counters().hit_pages + rig.file.counters().miss_pages, 50u * 8);
  EXPECT_GE(rig.disk.counters().read_bytes, pages * kPage);
  EXPECT_LE(rig.disk.counters().read_bytes, (pages + 64) * kPage);
}

TEST(HostFile, writing_through_waits_and_leaves_the_pages_there) {
  Rig rig(cached(CacheMode::kWriteThrough));
  EXPECT_FALSE(rig.begin(0, BlkOp::kWrite, 7, 2));
  rig.complete();
  EXPECT_EQ(rig.woken(), Threads{0});
  EXPECT_TRUE(rig.go_on(0));
  EXPECT_EQ(rig.file.dirty(), 0u);
  EXPECT_TRUE(rig.begin(0, BlkOp::kRead, 7, 2));
}

TEST(HostFile, writing_back_waits_for_nothing_below_the_limit) {
  Rig rig(cached(CacheMode::kWriteBack));
  EXPECT_TRUE(rig.begin(0, BlkOp::kWrite, 10, 4));
  EXPECT_EQ(rig.file.dirty(), 4u);
  EXPECT_FALSE(rig.file.wants_writing());
  EXPECT_TRUE(rig.begin(0, BlkOp::kWrite, 10, 4));  // dirty already
  EXPECT_EQ(rig.file.dirty(), 4u);
  EXPECT_TRUE(rig.begin(0, BlkOp::kWrite, 14, 1));
  EXPECT_TRUE(rig.file.wants_writing());
  EXPECT_FALSE(rig.disk.runnable());
}

TEST(HostFile, a_writer_waits_while_there_is_more_dirty_than_the_limit) {
  Rig rig(cached(CacheMode::kWriteBack));
  EXPECT_TRUE(rig.begin(0, BlkOp::kWrite, 0, 8));
  EXPECT_FALSE(rig.begin(1, BlkOp::kWrite, 100, 1));
  rig.file.write_back(rig.core);
  EXPECT_EQ(rig.file.dirty(), 9u);  // on its way
  rig.complete();
  EXPECT_EQ(rig.woken(), Threads{1});
  EXPECT_EQ(rig.file.dirty(), 1u);
  EXPECT_TRUE(rig.go_on(1));
}

TEST(HostFile, a_flush_covers_what_was_dirty_when_it_began) {
  Rig rig(cached(CacheMode::kWriteBack));
  EXPECT_TRUE(rig.begin(0, BlkOp::kWrite, 0, 3));
  EXPECT_FALSE(rig.file.wants_writing());
  EXPECT_FALSE(rig.begin(1, BlkOp::kFlush, 0, 0));
  EXPECT_TRUE(rig.file.wants_writing());  // below the background limit, for the flush alone
  rig.file.write_back(rig.core);
  EXPECT_TRUE(rig.begin(0, BlkOp::kWrite, 50, 1));  // later: not covered
  rig.complete();
  EXPECT_FALSE(rig.file.wants_writing());
  EXPECT_EQ(rig.woken(), Threads{1});
  EXPECT_FALSE(rig.go_on(1));  // the disk's own cache is flushed
  rig.complete();
  EXPECT_EQ(rig.woken(), Threads{1});
  EXPECT_TRUE(rig.go_on(1));
  EXPECT_EQ(rig.file.dirty(), 1u);
}

TEST(HostFile, a_dirty_page_that_gives_way_is_written) {
  HostFileConfig config = cached(CacheMode::kWriteBack);
  config.dirty_limit_pages = config.dirty_background_pages = 60;
  Rig rig(config);
  EXPECT_TRUE(rig.begin(0, BlkOp::kWrite, 0, 2));
  rig.do_all(BlkOp::kRead, 64, 2);
  while (rig.disk.runnable()) rig.complete();
  EXPECT_EQ(rig.disk.counters().write_bytes, 2 * kPage);
  EXPECT_EQ(rig.file.dirty(), 0u);
}

// Two threads want pages of one place. Each waited for its own page and threw away the
// other's, for ever, and asked the disk twice for each answer.
TEST(HostFile, threads_whose_pages_have_one_place_both_get_on) {
  Rig rig(cached(CacheMode::kWriteBack));
  std::vector<bool> done{rig.begin(0, BlkOp::kRead, 5, 1), rig.begin(1, BlkOp::kRead, 69, 1)};
  EXPECT_EQ(done, (std::vector<bool>{false, false}));
  for (int i = 0; i < 3 && rig.disk.runnable(); ++i) {
    rig.complete();
    // The later one first: the worst order for the earlier one.
    auto threads = rig.woken();
    for (auto thread = threads.rbegin(); thread != threads.rend(); ++thread)
      if (!done[*thread]) done[*thread] = rig.go_on(*thread);
  }
  EXPECT_EQ(done, (std::vector<bool>{true, true}));
  EXPECT_EQ(rig.disk.counters().requests, 2u);
}

TEST(HostFile, a_page_that_is_read_is_not_replaced_by_reading_another) {
  Rig rig(cached(CacheMode::kWriteBack));
  EXPECT_FALSE(rig.begin(0, BlkOp::kRead, 5, 1));
  EXPECT_FALSE(rig.begin(1, BlkOp::kRead, 69, 1));
  rig.complete();
  EXPECT_EQ(rig.woken(), (Threads{0, 1}));
  EXPECT_TRUE(rig.go_on(0));
  EXPECT_FALSE(rig.go_on(1));
}

}  // namespace
}  // namespace vringlab::sim
