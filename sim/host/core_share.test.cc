// Who of the threads of a core has it, and what its clock does.
#include "sim/host/core_share.h"

#include <gtest/gtest.h>

#include "tests/double/model_machine.h"

namespace vringlab::sim {
namespace {

struct Shares : testing::Test {
  test::ModelMachine model{AccessPlan{}};
  Core& core = model.device_core;
  CoreShare share{core};
  std::size_t a = share.join();
  std::size_t b = share.join();
  std::size_t c = share.join();
  std::uint64_t wakeup_ps = model.costs.wakeup_ps;
  std::uint64_t slice_ps = model.costs.time_slice_ps;
  std::uint64_t switch_ps = model.costs[Cost::kContextSwitch];

  void work(std::uint64_t ps) { core.charge(Cost::kPlainAccess, Step::kPacket, ps); }
  std::uint64_t switches() { return test::occurrences(core, Cost::kContextSwitch); }
  // Which thread has it; 9: none.
  std::size_t has() {
    for (std::size_t thread = 0; thread < 3; ++thread) {
      if (share.runs(thread)) return thread;
    }
    return 9;
  }
  // Lets the core's time pass until just before the end of a slice that began now.
  void work_for_less_than_a_slice() {
    work(slice_ps - 1);
    share.may_switch();
  }
  void end_slice() {
    work(1);
    share.may_switch();
  }
};

TEST_F(Shares, nobody_has_it_at_first_and_the_first_woken_gets_it) {
  EXPECT_EQ(has(), 9u);
  share.wake(b, 1000);
  EXPECT_EQ(has(), b);
  EXPECT_EQ(core.now(), 1000 + wakeup_ps);
  EXPECT_EQ(core.busy_ps(), switch_ps);
}

TEST_F(Shares, a_wake_leaves_the_clock_of_the_one_that_has_it) {
  share.wake(a, 0);
  const std::uint64_t clock_ps = core.now();
  share.wake(b, clock_ps + 5000000);
  EXPECT_EQ(core.now(), clock_ps);
  EXPECT_EQ(has(), a);
}

TEST_F(Shares, who_waits_gets_it_when_the_other_one_sleeps) {
  share.wake(a, 0);
  share.wake(b, core.now());
  work(wakeup_ps);  // b could run by now
  const std::uint64_t idle_ps = core.idle_ps();
  const std::uint64_t clock_ps = core.now();
  share.sleep();
  EXPECT_EQ(has(), b);
  EXPECT_EQ(core.now(), clock_ps + switch_ps);
  EXPECT_EQ(core.idle_ps(), idle_ps);
  share.sleep();
  EXPECT_EQ(has(), 9u);
  EXPECT_EQ(switches(), 2u);
}

TEST_F(Shares, the_core_is_idle_until_the_next_one_can_run) {
  share.wake(a, 0);
  const std::uint64_t woken_ps = core.now() + 700;
  const std::uint64_t idle_ps = core.idle_ps();
  share.wake(b, woken_ps);
  share.sleep();
  EXPECT_EQ(core.now(), woken_ps + wakeup_ps);
  EXPECT_EQ(core.idle_ps(), idle_ps + 700 + wakeup_ps - switch_ps);
}

TEST_F(Shares, a_slice_ends_at_its_end_and_not_before) {
  share.wake(a, 0);
  share.wake(b, 0);
  work_for_less_than_a_slice();
  EXPECT_EQ(has(), a);
  end_slice();
  EXPECT_EQ(has(), b);
  work_for_less_than_a_slice();
  EXPECT_EQ(has(), b);
  end_slice();
  EXPECT_EQ(has(), a);
  EXPECT_EQ(switches(), 3u);
}

TEST_F(Shares, alone_there_is_no_slice) {
  share.wake(a, 0);
  for (int i = 0; i < 10; ++i) {
    work(slice_ps);
    share.may_switch();
  }
  EXPECT_EQ(has(), a);
  EXPECT_EQ(switches(), 1u);
}

TEST_F(Shares, who_is_still_on_its_way_does_not_end_a_slice) {
  share.wake(a, 0);
  work(slice_ps);
  share.wake(b, core.now() - wakeup_ps + switch_ps + 1);
  share.may_switch();
  EXPECT_EQ(has(), a);
  end_slice();
  EXPECT_EQ(has(), b);
}

TEST_F(Shares, all_have_their_turn) {
  share.wake(a, 0);
  share.wake(c, 0);
  share.wake(b, 0);
  std::string turns;
  for (int i = 0; i < 6; ++i) {
    turns += std::to_string(has());
    work_for_less_than_a_slice();
    end_slice();
  }
  EXPECT_EQ(turns, "021021");
}

TEST_F(Shares, who_has_waited_longest_is_next) {
  share.wake(a, 0);
  work(wakeup_ps);
  share.wake(b, 5000);
  share.wake(c, 4999);
  share.sleep();
  EXPECT_EQ(has(), c);
  share.sleep();
  EXPECT_EQ(has(), b);
}

}  // namespace
}  // namespace vringlab::sim
