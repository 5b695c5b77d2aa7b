#include "sim/guest/blk_vcpu.h"

#include <gtest/gtest.h>

#include <deque>

#include "tests/double/model_machine.h"

namespace vringlab::sim {
namespace {

// A queue with a bounded number of places; a test says when a request is done.
struct Port {
  static constexpr bool kVirtual = true;

  std::size_t room = 100;
  std::vector<BlkGuestRequest> added;
  std::deque<std::uint64_t> done;
  std::size_t in_flight = 0;
  int published = 0;
  int unpublished = 0;

  bool has_room() const { return in_flight < room; }
  void add(Core&, const BlkGuestRequest& request) {
    added.push_back(request);
    ++in_flight;
    ++unpublished;
  }
  bool publish(Core&) {
    if (unpublished == 0) return false;
    unpublished = 0;
    ++published;
    return true;
  }
  void begin_interrupt(Core&, bool) {}
  std::optional<std::uint64_t> reap(Core&) {
    if (done.empty()) return std::nullopt;
    const std::uint64_t token = done.front();
    done.pop_front();
    --in_flight;
    return token;
  }
  bool end_interrupt(Core&) { return !done.empty(); }
  bool failed(const BlkIoSlot&, std::uint16_t) const { return false; }
};

using Vcpu = BlkVcpu<Port>;

struct Rig {
  test::ModelMachine machine{{}};
  Port port;
  BlkWork work;
  Signals signals;
  Vcpu vcpu;
  Vcpu other;

  Rig(const BlkVcpuConfig& config, std::size_t jobs, std::size_t depth, const BlkJobConfig& stream)
      : vcpu(machine.driver_core, port, work, signals, config),
        other(machine.device_core, port, work, signals, config) {
    for (std::size_t i = 0; i < jobs; ++i) work.jobs.push_back(job(depth, stream));
    work.running = jobs;
    for (Vcpu* one : {&vcpu, &other}) {
      one->set_peers({&vcpu, &other});
      one->start();
    }
  }
  BlkWorkJob job(std::size_t depth, const BlkJobConfig& stream) {
    BlkWorkJob made{.stream = BlkJob(stream), .slots = {}, .idle = {}};
    for (std::size_t i = 0; i < depth; ++i) {
      std::byte* host = machine.bytes.data();
      made.slots.push_back({.plan = {}, .memory = {{0x10000}, host, {0x20000}, host}});
      made.idle.push_back(static_cast<std::uint16_t>(depth - 1 - i));
    }
    return made;
  }
  static void run(Vcpu& vcpu) {
    for (int i = 0; i < 10000 && vcpu.runnable(); ++i) vcpu.step();
    EXPECT_FALSE(vcpu.runnable());
  }
  // The oldest requests complete.
  void complete(Vcpu& called, std::size_t count) {
    for (; count > 0; --count) port.done.push_back(port.added[next_++].token);
    called.interrupt(called.core().now());
  }

 private:
  std::size_t next_ = 0;
};

TEST(BlkVcpu, an_io_is_as_many_requests_as_it_takes) {
  Rig rig({.request_bytes = 4096}, 1, 1, {.ios = 1, .block_bytes = 10240, .first_byte = 1024});
  rig.vcpu.own(0);
  Rig::run(rig.vcpu);
  ASSERT_EQ(rig.port.added.size(), 3u);
  EXPECT_EQ(rig.port.published, 1);  // behind the last of them
  const std::uint64_t bytes[] = {4096, 4096, 2048};
  for (std::size_t i = 0; i < 3; ++i) {
    const BlkGuestRequest& request = rig.port.added[i];
    EXPECT_EQ(request.bytes, bytes[i]);
    EXPECT_EQ(request.offset, 1024 + i * 4096);
    EXPECT_EQ(request.data.value, 0x10000 + i * 4096);
    EXPECT_EQ(request.header.value, 0x20000 + i * BlkMemory::kRequestStride);
    EXPECT_EQ(BlkWork::parts(request.token).request, i);
  }
  rig.complete(rig.vcpu, 2);
  Rig::run(rig.vcpu);
  EXPECT_EQ(rig.work.ios, 0u);  // not before its last request
  rig.complete(rig.vcpu, 1);
  Rig::run(rig.vcpu);
  EXPECT_EQ(rig.work.ios, 1u);
  EXPECT_EQ(rig.work.bytes, 10240u);
  EXPECT_EQ(rig.work.requests, 3u);
  EXPECT_EQ(rig.work.running, 0u);
  EXPECT_EQ(rig.vcpu.interrupts(), 2u);
}

TEST(BlkVcpu, as_many_at_once_as_the_depth) {
  Rig rig({.sync = false}, 1, 4, {.ios = 10, .block_bytes = 4096});
  rig.vcpu.own(0);
  Rig::run(rig.vcpu);
  EXPECT_EQ(rig.port.added.size(), 4u);
  rig.complete(rig.vcpu, 3);
  Rig::run(rig.vcpu);
  EXPECT_EQ(rig.port.added.size(), 7u);
}

TEST(BlkVcpu, jobs_take_turns) {
  Rig rig({.sync = false}, 2, 2, {.ios = 10, .block_bytes = 4096});
  rig.vcpu.own(0);
  rig.vcpu.own(1);
  Rig::run(rig.vcpu);
  ASSERT_EQ(rig.port.added.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(BlkWork::parts(rig.port.added[i].token).job, i % 2);
}

TEST(BlkVcpu, a_full_queue_is_waited_for_and_what_it_holds_is_published) {
  Rig rig({.request_bytes = 4096}, 1, 1, {.ios = 1, .block_bytes = 6 * 4096});
  rig.port.room = 2;
  rig.vcpu.own(0);
  Rig::run(rig.vcpu);
  EXPECT_EQ(rig.port.added.size(), 2u);
  EXPECT_EQ(rig.port.published, 1);
  EXPECT_EQ(rig.work.stuck, 1u);
  for (int i = 0; i < 3; ++i) {
    rig.complete(rig.vcpu, 2);
    Rig::run(rig.vcpu);
  }
  EXPECT_EQ(rig.work.ios, 1u);
  EXPECT_EQ(rig.work.stuck, 0u);
}

TEST(BlkVcpu, one_that_found_the_queue_full_is_woken_by_the_one_that_reaps) {
  Rig rig({.sync = false}, 2, 1, {.ios = 1, .block_bytes = 4096});
  rig.port.room = 1;
  rig.vcpu.own(0);
  rig.other.own(1);
  rig.work.jobs[1].vcpu = 1;
  Rig::run(rig.vcpu);
  Rig::run(rig.other);
  EXPECT_EQ(rig.port.added.size(), 1u);
  EXPECT_EQ(rig.work.stuck, 1u);
  rig.signals.woke = false;
  rig.complete(rig.vcpu, 1);
  Rig::run(rig.vcpu);
  EXPECT_TRUE(rig.signals.woke);
  EXPECT_TRUE(rig.other.runnable());
  Rig::run(rig.other);
  EXPECT_EQ(rig.port.added.size(), 2u);
}

TEST(BlkVcpu, the_owner_is_woken_when_another_reaps_its_io) {
  Rig rig({.sync = true}, 1, 1, {.ios = 2, .block_bytes = 4096});
  rig.other.own(0);
  rig.work.jobs[0].vcpu = 1;
  Rig::run(rig.other);
  Rig::run(rig.vcpu);
  rig.complete(rig.vcpu, 1);
  Rig::run(rig.vcpu);
  EXPECT_TRUE(rig.other.runnable());
  Rig::run(rig.other);
  EXPECT_EQ(rig.port.added.size(), 2u);
}

TEST(BlkVcpu, a_flush_is_waited_for_and_not_counted) {
  Rig rig({.sync = true}, 1, 1, {.ios = 1, .block_bytes = 4096, .read_share = 0, .flush_every = 1});
  rig.vcpu.own(0);
  Rig::run(rig.vcpu);
  EXPECT_EQ(rig.port.added.size(), 1u);
  rig.complete(rig.vcpu, 1);
  Rig::run(rig.vcpu);
  ASSERT_EQ(rig.port.added.size(), 2u);
  EXPECT_EQ(rig.port.added[1].op, BlkOp::kFlush);
  EXPECT_EQ(rig.port.added[1].bytes, 0u);
  EXPECT_EQ(rig.work.running, 1u);
  rig.complete(rig.vcpu, 1);
  Rig::run(rig.vcpu);
  EXPECT_EQ(rig.work.ios, 1u);
  EXPECT_EQ(rig.work.requests, 2u);
  EXPECT_EQ(rig.work.running, 0u);
}

TEST(BlkVcpu, an_interrupt_comes_after_its_latency_and_those_before_it_are_one) {
  Rig rig({.sync = false}, 1, 2, {.ios = 2, .block_bytes = 4096});
  rig.vcpu.own(0);
  Rig::run(rig.vcpu);
  const std::uint64_t at_ps = rig.vcpu.core().now() + 1000000;
  rig.vcpu.interrupt(at_ps);
  rig.vcpu.interrupt(at_ps);
  rig.complete(rig.vcpu, 2);
  EXPECT_GE(rig.vcpu.core().now(), at_ps + rig.machine.costs.irq_latency_ps);
  Rig::run(rig.vcpu);
  EXPECT_EQ(rig.vcpu.interrupts(), 1u);
  EXPECT_EQ(rig.work.ios, 2u);
}

TEST(BlkWork, a_pattern_says_where_it_belongs) {
  std::vector<std::byte> data(1024);
  fill_pattern(data.data(), {BlkOp::kWrite, 4096, 1024});
  EXPECT_EQ(wrong_bytes(data.data(), {BlkOp::kRead, 4096, 1024}), 0u);
  EXPECT_EQ(wrong_bytes(data.data(), {BlkOp::kRead, 8192, 1024}), 1024u);
  data[9] ^= std::byte{1};
  EXPECT_EQ(wrong_bytes(data.data(), {BlkOp::kRead, 4096, 1024}), 8u);
}

}  // namespace
}  // namespace vringlab::sim
