#include "core/device/queue_set.h"

#include <gtest/gtest.h>

#include <climits>

namespace vringlab {
namespace {

TEST(QueueSet, n05_enabling_counts_as_a_kick) {
  QueueSet queues(2);
  queues.kick(1);  // nobody listens yet
  EXPECT_FALSE(queues.take_kick(1));
  queues.enable(1);
  EXPECT_TRUE(queues.take_kick(1));
  EXPECT_FALSE(queues.take_kick(1));
  EXPECT_FALSE(queues.take_kick(0));
}

TEST(QueueSet, kicks_are_merged_and_taken_once) {
  QueueSet queues(1);
  queues.enable(0);
  queues.take_kick(0);
  queues.kick(0);
  queues.kick(0);
  EXPECT_TRUE(queues.take_kick(0));
  EXPECT_FALSE(queues.take_kick(0));
}

TEST(QueueSet, i10_a_queue_that_is_not_ready_is_kicked) {
  QueueSet queues(1);
  queues.kick(0);
  EXPECT_FALSE(queues.take_kick(0));
  queues.enable(0);
  queues.disable(0);
  queues.kick(0);
  EXPECT_FALSE(queues.take_kick(0));
}

TEST(QueueSet, i10_a_queue_that_is_not_there) {
  QueueSet queues(3);
  for (int queue = 0; queue < 3; ++queue) queues.enable(queue);
  for (const int queue : {-1, 3, INT_MIN, INT_MAX}) {
    queues.enable(queue);
    queues.kick(queue);
    EXPECT_FALSE(queues.take_kick(queue));
    EXPECT_FALSE(queues.ready(queue));
    queues.disable(queue);
  }
  for (int queue = 0; queue < 3; ++queue) EXPECT_TRUE(queues.take_kick(queue));
}

}  // namespace
}  // namespace vringlab
