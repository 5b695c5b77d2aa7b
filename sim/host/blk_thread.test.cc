#include "sim/host/blk_thread.h"

#include <gtest/gtest.h>

#include "tests/double/model_machine.h"

namespace vringlab::sim {
namespace {

// Stands for a queue: requests to take, and what the thread did, in order.
struct Engine {
  int requests = 0;
  bool late = false;  // a request comes as the thread is about to sleep
  std::vector<std::string> said;

  Turn step() {
    if (requests == 0) return Turn::kEmpty;
    --requests;
    said.push_back("take");
    return Turn::kPacket;
  }
  bool arm() {
    said.push_back("arm");
    if (!late) return false;
    late = false;
    requests = 1;
    return true;
  }
  void complete(std::uint16_t slot, BlkStatus) { said.push_back("done " + std::to_string(slot)); }
  void flush() { said.push_back("flush"); }
};

// One whose requests of slot 1 and 2 are one.
struct Store {
  static constexpr std::uint16_t kLast = UINT16_MAX;
  static std::uint16_t done(std::uint16_t slot) { return slot == 1 ? std::uint16_t{2} : kLast; }
  bool blocked() const { return false; }
};

using Task = BlkTask<Engine, Store>;

struct Rig {
  test::ModelMachine machine{{}};
  Signals signals;
  Engine engine;
  Engine other_engine;
  Store store;
  Task task{engine, store, machine.context, 16};
  Task other{other_engine, store, machine.context, 16};
  BlkThread<Task> thread{machine.device_core, signals, false};

  Rig() { thread.serve(task); }
  void run() {
    for (int i = 0; i < 100 && thread.runnable(); ++i) thread.step();
    EXPECT_FALSE(thread.runnable());
  }
};

using Said = std::vector<std::string>;

TEST(BlkThread, sleeps_until_it_is_kicked_and_when_there_is_no_more) {
  Rig rig;
  EXPECT_FALSE(rig.thread.runnable());
  rig.engine.requests = 2;
  rig.task.kick();
  rig.thread.wake(1000);
  EXPECT_TRUE(rig.signals.woke);
  EXPECT_EQ(rig.thread.wakeups(), 1u);
  rig.run();
  EXPECT_EQ(rig.engine.said, (Said{"take", "take", "arm"}));
}

TEST(BlkThread, asks_for_kicks_before_it_sleeps_and_looks_again) {
  Rig rig;
  rig.engine.late = true;
  rig.task.kick();
  rig.thread.wake(0);
  rig.run();
  EXPECT_EQ(rig.engine.said, (Said{"arm", "take", "arm"}));
}

TEST(BlkThread, completes_what_was_merged_and_calls_once) {
  Rig rig;
  rig.task.done(1);
  rig.task.done(5);
  rig.thread.wake(0);
  rig.run();
  EXPECT_EQ(rig.engine.said, (Said{"done 1", "done 2", "done 5", "flush", "arm"}));
}

TEST(BlkThread, completions_come_before_requests) {
  Rig rig;
  rig.engine.requests = 1;
  rig.task.kick();
  rig.task.done(7);
  rig.thread.wake(0);
  rig.run();
  EXPECT_EQ(rig.engine.said, (Said{"done 7", "flush", "arm", "take", "arm"}));
}

TEST(BlkThread, serves_one_queue_until_it_is_empty_then_the_next) {
  Rig rig;
  rig.thread.serve(rig.other);
  rig.engine.requests = rig.other_engine.requests = 2;
  rig.task.kick();
  rig.other.kick();
  rig.thread.wake(0);
  rig.run();
  EXPECT_EQ(rig.engine.said, (Said{"take", "take", "arm"}));
  EXPECT_EQ(rig.other_engine.said, (Said{"take", "take", "arm"}));
}

TEST(BlkThread, a_kick_may_be_served_on_the_core_that_kicked) {
  Rig rig;
  rig.engine.requests = 3;
  rig.thread.serve_on(rig.machine.driver_core, rig.task);
  EXPECT_EQ(rig.engine.said, (Said{"take", "take", "take", "arm"}));
  EXPECT_FALSE(rig.thread.runnable());
  EXPECT_EQ(rig.machine.device_core.busy_ps(), 0u);
  EXPECT_EQ(rig.machine.context.core, &rig.machine.device_core);
}

}  // namespace
}  // namespace vringlab::sim
