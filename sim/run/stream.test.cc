// TCP streams, seen from outside: by runs.
#include <gtest/gtest.h>

#include "sim/run/run.h"
#include "sim/run/stream_world.h"
#include "tests/double/run_text.h"

namespace vringlab::sim {
namespace {

Scenario streams(std::uint32_t message_bytes, std::uint32_t sessions) {
  Scenario s;
  s.workload = "stream";
  s.sink = "host_tcp";
  s.guest = "vm";
  s.message_bytes = message_bytes;
  s.sessions = sessions;
  s.stream_ms = 3;
  return s;
}

double payload_of_a_packet(const RunResult& r) {
  return static_cast<double>(r.bytes) / static_cast<double>(r.packets);
}

TEST(Streams, account_for_each_picosecond) {
  for (const std::uint32_t message : {64u, 1500u, 65535u}) {
    for (const std::uint32_t sessions : {1u, 3u, 8u}) {
      const RunResult r = run(streams(message, sessions));
      EXPECT_GT(r.bytes, 0u);
      EXPECT_EQ(r.refused, 0u);
      ASSERT_EQ(r.cores.size(), 4u);
      for (const CoreResult& core : r.cores) {
        std::uint64_t sum = 0;
        for (const LedgerRow& row : core.ledger) sum += row.ps;
        EXPECT_EQ(sum, core.busy_ps) << message << " " << sessions << " " << core.name;
      }
    }
  }
}

TEST(Streams, give_the_same_result_each_time) {
  const Scenario s = streams(512, 4);
  EXPECT_EQ(test::text_of(run(s)), test::text_of(run(s)));
}

TEST(Streams, small_writes_leave_as_whole_segments) {
  const RunResult r = run(streams(256, 2));
  EXPECT_GT(payload_of_a_packet(r), 1400);
  EXPECT_LT(payload_of_a_packet(r), 1500);
}

TEST(Streams, large_writes_leave_as_packets_that_cannot_be_batched) {
  // Of each write the whole segments leave at once, the rest when those are acknowledged.
  const RunResult large = run(streams(65535, 2));
  EXPECT_GT(static_cast<double>(large.alone), 0.45 * static_cast<double>(large.packets));
  EXPECT_GT(payload_of_a_packet(large), 30000);
  const RunResult small = run(streams(512, 2));
  EXPECT_LT(static_cast<double>(small.alone), 0.05 * static_cast<double>(small.packets));
}

TEST(Streams, writes_pile_up_where_the_buffer_lets_them) {
  Scenario s = streams(512, 8);
  const double bounded = payload_of_a_packet(run(s));
  s.send_buffer_bytes = 4u << 20;
  s.stream_ms = 10;
  EXPECT_GT(payload_of_a_packet(run(s)), 2 * bounded);
}

TEST(Streams, a_buffer_smaller_than_a_message_still_moves) {
  Scenario s = streams(65535, 1);
  s.send_buffer_bytes = 4096;
  EXPECT_GT(run(s).bytes, 0u);
}

TEST(Streams, a_buffer_of_a_packet_or_one_byte_messages_still_move) {
  Scenario s = streams(1, 2);
  EXPECT_GT(run(s).bytes, 0u);
  s = streams(2048, 8);
  s.ring_size = 64;
  s.tap_entries = 1;
  EXPECT_GT(run(s).bytes, 0u);
}

TEST(Streams, batches_need_a_socket_that_takes_them) {
  Scenario s = streams(512, 4);
  const RunResult batched = run(s);
  EXPECT_LT(batched.batches, batched.packets);
  s.tx_batching = false;
  const RunResult alone = run(s);
  EXPECT_EQ(alone.alone, alone.packets);
  EXPECT_LT(alone.bytes, batched.bytes);
}

TEST(Streams, more_sessions_or_processors_move_more_small_writes) {
  Scenario s = streams(64, 4);
  s.vcpus = 1;
  const std::uint64_t one = run(s).bytes;
  s.vcpus = 4;
  EXPECT_GT(run(s).bytes, 2 * one);
}

// Each session's bytes go through its own pair; a pair without sessions moves none.
TEST(Streams, sessions_go_to_pairs_in_turn) {
  Scenario s = streams(1500, 3);
  s.queue_pairs = 5;
  s.workers = 2;
  StreamWorld world(s);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(&world.pair_of(i), world.pairs[i].get());
  EXPECT_EQ(&world.interrupted_by(4), &world.guest[0]);
  EXPECT_EQ(world.pairs[4]->tx_served.thread, &world.threads[0]);
  EXPECT_EQ(world.pairs[3]->tx_served.thread, &world.threads[1]);
  s.sessions = 1;
  const RunResult of_five = run(s);
  s.queue_pairs = s.workers = 1;
  EXPECT_EQ(run(s).bytes, of_five.bytes);
}

TEST(Streams, more_workers_than_pairs_change_nothing) {
  Scenario s = streams(700, 4);
  const std::string one = test::text_of(run(s));
  s.workers = 3;
  EXPECT_EQ(test::text_of(run(s)) == one, true);
  s.worker_cores = 2;
  EXPECT_EQ(test::text_of(run(s)) == one, true);
}

TEST(Streams, pairs_account_for_each_picosecond) {
  for (const std::uint32_t cores : {0u, 1u}) {
    for (const std::uint32_t message : {64u, 1500u, 65535u}) {
      Scenario s = streams(message, 8);
      s.queue_pairs = 3;
      s.workers = 2;
      s.worker_cores = cores;
      const RunResult r = run(s);
      EXPECT_GT(r.bytes, 0u);
      EXPECT_EQ(r.refused, 0u);
      for (const CoreResult& core : r.cores) {
        std::uint64_t sum = 0;
        for (const LedgerRow& row : core.ledger) sum += row.ps;
        EXPECT_EQ(sum, core.busy_ps) << message << " " << core.name;
      }
      EXPECT_EQ(test::text_of(r), test::text_of(run(s)));
    }
  }
}

// Where the worker is the bound, a second one for a second pair moves more; a second pair of
// the same worker does not.
TEST(Streams, pairs_with_workers_of_their_own_move_more) {
  Scenario s = streams(1448, 4);
  const auto one = static_cast<double>(run(s).bytes);
  s.queue_pairs = 2;
  EXPECT_NEAR(static_cast<double>(run(s).bytes) / one, 1, 0.2);
  s.workers = 2;
  EXPECT_GT(static_cast<double>(run(s).bytes) / one, 1.5);
}

}  // namespace
}  // namespace vringlab::sim
