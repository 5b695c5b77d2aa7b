// Which queue's work a worker thread takes up, and when it sleeps.
#include "sim/host/vhost_thread.h"

#include <gtest/gtest.h>

#include <string>

#include "sim/host/rx_queue.h"
#include "tests/double/model_machine.h"
#include "tests/double/rx_rig.h"

namespace vringlab::sim {
namespace {

// Takes `packets` turns, then finds nothing; notes each turn in a common log.
struct Device {
  char name;
  std::string* log;
  int packets = 0;
  int yields_after = 1000;
  bool armed = false;  // there is work when it asks to be kicked
  bool breaks = false;

  Turn step() {
    log->push_back(name);
    if (breaks) return Turn::kBroken;
    if (packets == 0) return Turn::kEmpty;
    --packets;
    return --yields_after == 0 ? Turn::kYield : Turn::kPacket;
  }
  bool arm() { return std::exchange(armed, false); }
};
struct Tx : Device {};
struct Rx : Device {};

struct Threads : testing::Test {
  test::ModelMachine model{AccessPlan{}};
  std::string log;
  Tx tx{{'t', &log}};
  Rx rx{{'r', &log}};
  VhostTask<Tx> tx_task{tx, Op::kUnmodelledLate};
  VhostTask<Rx> rx_task{rx, Op::kUnmodelledRxLate};
  CoreShare share{model.device_core};
  VhostThread<Tx, Rx> thread{share};

  Threads() {
    thread.serve(tx_task);
    thread.serve(rx_task);
  }
  // Runs until it sleeps.
  std::string run() {
    for (int i = 0; i < 100 && thread.runnable(); ++i) thread.step();
    EXPECT_FALSE(thread.runnable());
    return std::exchange(log, {});
  }
};

TEST_F(Threads, one_queue_to_its_end_then_the_next) {
  tx.packets = 2;
  rx.packets = 1;
  tx_task.queue();
  rx_task.queue();
  thread.wake(1000);
  EXPECT_EQ(run(), "tttrr");
  EXPECT_EQ(thread.wakeups(), 1u);
}

TEST_F(Threads, a_weight_that_is_used_up_lets_the_other_queue_in) {
  tx.packets = 3;
  tx.yields_after = 2;
  rx.packets = 1;
  tx_task.queue();
  rx_task.queue();
  thread.wake(0);
  EXPECT_EQ(run(), "ttrrtt");
}

TEST_F(Threads, what_queued_a_run_does_not_repeat_it) {
  tx_task.queue();
  thread.wake(0);
  EXPECT_EQ(run(), "t");
}

TEST_F(Threads, work_queued_in_a_run_is_looked_at_once_more) {
  tx.packets = 2;
  tx_task.queue();
  thread.wake(0);
  thread.step();
  tx_task.queue();
  EXPECT_EQ(run(), "tttt");
}

TEST_F(Threads, work_found_while_arming_goes_on) {
  tx.armed = true;
  tx_task.queue();
  thread.wake(0);
  EXPECT_EQ(run(), "tt");
}

TEST_F(Threads, a_broken_queue_is_served_no_more) {
  tx.breaks = true;
  tx_task.queue();
  thread.wake(0);
  EXPECT_EQ(run(), "t");
  EXPECT_TRUE(tx_task.broken());
  tx_task.queue();
  thread.wake(0);
  EXPECT_EQ(run(), "");
}

TEST_F(Threads, a_thread_that_is_awake_is_not_woken) {
  tx.packets = 1;
  tx_task.queue();
  thread.wake(0);
  const std::uint64_t clock_ps = model.device_core.now();
  thread.wake(clock_ps + 5000000);
  EXPECT_EQ(model.device_core.now(), clock_ps);
}

// One goes on until it sleeps; the other one, woken meanwhile, is not runnable before that.
TEST_F(Threads, of_two_on_a_core_one_runs_at_a_time) {
  VhostThread<Tx, Rx> other(share);
  Tx more{{'o', &log}};
  VhostTask<Tx> more_task(more, Op::kUnmodelledLate);
  other.serve(more_task);
  tx.packets = 2;
  tx_task.queue();
  thread.wake(0);
  more_task.queue();
  other.wake(0);
  EXPECT_EQ(other.wakeups(), 1u);
  for (int i = 0; i < 100 && (thread.runnable() || other.runnable()); ++i) {
    EXPECT_NE(thread.runnable(), other.runnable());
    (thread.runnable() ? thread : other).step();
  }
  EXPECT_EQ(log, "ttto");
  EXPECT_EQ(test::occurrences(model.device_core, Cost::kContextSwitch), 2u);
}

// Its work is looked at when it has the core again, once.
TEST_F(Threads, one_that_waits_for_its_core_is_not_woken_again) {
  VhostThread<Tx, Rx> other(share);
  other.wake(0);
  tx_task.queue();
  thread.wake(0);
  tx_task.queue();
  thread.wake(0);
  EXPECT_EQ(thread.wakeups(), 1u);
  other.step();
  EXPECT_EQ(run(), "t");
}

// A packet that waits for buffers that may never come: each kick and each packet costs
// one look, the thread sleeps after it, and its other queue has its turn.
TEST_F(Threads, a_queue_that_waits_for_buffers_costs_the_others_nothing) {
  test::RxRig rig(8, {.mergeable = true});
  rig.offer_row(6, 0x10000, 100);
  rig.socket.put(1000, 1, 500);
  RxQueue waiting(rig.rx);
  VhostTask waiting_task(waiting, Op::kUnmodelledRxLate);
  VhostThread<Tx, decltype(waiting)> both(share);
  both.serve(tx_task);
  both.serve(waiting_task);
  for (std::uint64_t kick = 1; kick <= 100; ++kick) {
    tx.packets = 2;
    waiting_task.queue();
    tx_task.queue();
    both.wake(model.device_core.now());
    int steps = 0;
    for (; steps < 10 && both.runnable(); ++steps) both.step();
    EXPECT_EQ(steps, 5);  // two packets and the end, one look, nothing ready
    EXPECT_EQ(tx.packets, 0);
    EXPECT_EQ(rig.rx.counters().starved, kick);
  }
  EXPECT_EQ(rig.rx.counters().dropped, 0u);
  EXPECT_EQ(rig.ring.used_idx(), 0);
}

}  // namespace
}  // namespace vringlab::sim
