#include "sim/host/flusher.h"

#include <gtest/gtest.h>

#include "tests/double/model_machine.h"

namespace vringlab::sim {
namespace {

constexpr std::uint64_t kPage = kCachePageBytes;

struct Rig {
  test::ModelMachine machine{{}};
  Signals signals;
  Disk disk{{.read = {1000, 5000, 0}, .write = {1000, 5000, 0}, .flush_ps = 9000}, {}};
  HostFile file{&disk,
                {.mode = CacheMode::kWriteBack,
                 .capacity_bytes = 64 * kPage,
                 .cache_pages = 64,
                 .dirty_limit_pages = 8,
                 .dirty_background_pages = 2},
                1};
  Flusher flusher{machine.control_core, signals, file};

  void write(std::uint64_t page, std::uint64_t pages) {
    FileOp op{.op = BlkOp::kWrite, .offset = page * kPage, .bytes = pages * kPage};
    file.advance(machine.device_core, 0, op);
  }
  void write_all() {
    for (int i = 0; i < 100 && flusher.runnable(); ++i) flusher.step();
  }
};

TEST(Flusher, sleeps_while_little_is_dirty) {
  Rig rig;
  rig.write(0, 2);
  rig.flusher.wake(0);
  EXPECT_FALSE(rig.flusher.runnable());
  rig.write(10, 1);
  rig.flusher.wake(0);
  EXPECT_TRUE(rig.flusher.runnable());
  EXPECT_TRUE(rig.signals.woke);
  rig.write_all();
  EXPECT_FALSE(rig.flusher.runnable());
  EXPECT_TRUE(rig.disk.runnable());
}

// It was woken when the writer's step began, before anything was dirty.
TEST(Flusher, runs_after_what_it_is_woken_for) {
  Rig rig;
  const std::uint64_t began_ps = rig.machine.device_core.now();
  rig.write(0, 3);
  const std::uint64_t dirty_ps = rig.file.wanted_ps();
  EXPECT_GT(dirty_ps, began_ps);
  rig.flusher.wake(began_ps);
  EXPECT_GE(rig.flusher.core().now(), dirty_ps + rig.machine.costs.wakeup_ps);
}

}  // namespace
}  // namespace vringlab::sim
