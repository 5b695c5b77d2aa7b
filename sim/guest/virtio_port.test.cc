#include "sim/guest/virtio_port.h"

#include <gtest/gtest.h>

#include "core/spec/blk.h"
#include "tests/double/model_machine.h"
#include "tests/double/raw_guest.h"

namespace vringlab::sim {
namespace {

struct CountKicks {
  int* kicks;
  void operator()(Core&) const { ++*kicks; }
};

struct Rig {
  static constexpr std::uint64_t kData = 0x10000;
  static constexpr std::uint64_t kHeader = 0x20000;
  static constexpr std::uint64_t kTables = 0x8000;

  test::ModelMachine machine{{}};
  Core& core = machine.driver_core;
  test::RawRing ring;
  DriverRing<ModelDriverAccess> driver;
  int kicked = 0;
  VirtioPort<CountKicks> port;

  explicit Rig(const VirtioPortConfig& config, std::uint32_t size = 16, std::uint64_t features = 0)
      : ring(machine.memory, test::packed_ring(size, features)),
        driver(ModelDriverAccess(core, ring.areas), ring.config,
               {{kTables},
                reinterpret_cast<Desc*>(machine.bytes.data() + kTables),
                static_cast<std::uint16_t>(config.max_segments + 2)}),
        port(driver, config, {&kicked}) {}

  void add(BlkOp op, std::uint64_t bytes, std::uint64_t token = 0) {
    port.add(core, {.op = op,
                    .offset = 8192,
                    .bytes = bytes,
                    .data = {kData},
                    .data_host = machine.bytes.data() + kData,
                    .header = {kHeader},
                    .header_host = machine.bytes.data() + kHeader,
                    .token = token});
  }
  // Descriptors from the last head offered on: address, length, and may the device write?
  struct Seen {
    std::uint64_t addr;
    std::uint32_t len;
    bool writable;
    bool operator==(const Seen&) const = default;
  };
  std::vector<Seen> chain() {
    std::vector<Seen> seen;
    std::uint16_t index = ring.avail((driver.state().next_avail - 1) & ring.areas.mask());
    for (;;) {
      const Desc& desc = ring.desc(index);
      seen.push_back({desc.addr, desc.len, (desc.flags & kDescWrite) != 0});
      if ((desc.flags & kDescNext) == 0) return seen;
      index = desc.next;
    }
  }
  VirtioBlkReqHdr header() {
    VirtioBlkReqHdr value;
    std::memcpy(&value, machine.bytes.data() + kHeader, sizeof(value));
    return value;
  }
};

using Chain = std::vector<Rig::Seen>;

TEST(VirtioPort, a_read_is_a_header_segments_and_a_status) {
  Rig rig({.segment_bytes = 4096, .max_segments = 4});
  rig.add(BlkOp::kRead, 9216);
  EXPECT_EQ(rig.chain(), (Chain{{Rig::kHeader, 16, false},
                                {Rig::kData, 4096, true},
                                {Rig::kData + 4096, 4096, true},
                                {Rig::kData + 8192, 1024, true},
                                {Rig::kHeader + 16, 1, true}}));
  EXPECT_EQ(rig.header().type, kBlkIn);
  EXPECT_EQ(rig.header().sector, 16u);
  EXPECT_TRUE(rig.port.failed(
      {.plan = {}, .memory = {{}, nullptr, {}, rig.machine.bytes.data() + Rig::kHeader}},
      0));  // nobody has written a status yet
}

TEST(VirtioPort, a_write_is_all_readable_but_its_status) {
  Rig rig({.segment_bytes = 4096, .max_segments = 4});
  rig.add(BlkOp::kWrite, 4096);
  EXPECT_EQ(
      rig.chain(),
      (Chain{{Rig::kHeader, 16, false}, {Rig::kData, 4096, false}, {Rig::kHeader + 16, 1, true}}));
  EXPECT_EQ(rig.header().type, kBlkOut);
}

TEST(VirtioPort, a_flush_has_no_data) {
  Rig rig({});
  rig.add(BlkOp::kFlush, 0);
  EXPECT_EQ(rig.chain(), (Chain{{Rig::kHeader, 16, false}, {Rig::kHeader + 16, 1, true}}));
  EXPECT_EQ(rig.header().type, kBlkFlush);
}

TEST(VirtioPort, there_is_room_for_the_largest_request_or_none) {
  Rig rig({.max_segments = 4}, 8);
  EXPECT_TRUE(rig.port.has_room());
  rig.add(BlkOp::kFlush, 0);
  EXPECT_TRUE(rig.port.has_room());  // six are left
  rig.add(BlkOp::kFlush, 0);
  EXPECT_FALSE(rig.port.has_room());  // four
}

TEST(VirtioPort, a_request_in_a_table_takes_one_descriptor) {
  Rig rig({.max_segments = 4}, 2, test::kIndirect);
  rig.add(BlkOp::kRead, 8192);
  EXPECT_TRUE(rig.port.has_room());
  rig.add(BlkOp::kRead, 8192);
  EXPECT_FALSE(rig.port.has_room());
  EXPECT_EQ(rig.ring.desc(0).flags, kDescIndirect);
  EXPECT_EQ(rig.ring.desc(0).len, 4 * sizeof(Desc));
}

TEST(VirtioPort, kicks_once_a_publication_unless_the_device_is_at_work) {
  Rig rig({});
  EXPECT_FALSE(rig.port.publish(rig.core));
  rig.add(BlkOp::kFlush, 0);
  rig.add(BlkOp::kFlush, 0);
  EXPECT_EQ(rig.ring.avail_idx(), 0);
  EXPECT_TRUE(rig.port.publish(rig.core));
  EXPECT_EQ(rig.ring.avail_idx(), 2);
  EXPECT_EQ(rig.kicked, 1);
  EXPECT_FALSE(rig.port.publish(rig.core));
  rig.ring.used_flags() = kUsedNoNotify;
  rig.add(BlkOp::kFlush, 0);
  EXPECT_TRUE(rig.port.publish(rig.core));
  EXPECT_EQ(rig.kicked, 1);
  EXPECT_EQ(rig.port.kicks(), 1u);
}

TEST(VirtioPort, a_barrier_is_paid_once_a_publication_and_once_an_interrupt) {
  Rig rig({});
  const auto barriers = [&] { return test::occurrences(rig.core, Cost::kFullBarrier); };
  rig.add(BlkOp::kFlush, 0);
  EXPECT_TRUE(rig.port.publish(rig.core));
  EXPECT_EQ(barriers(), 1u);
  rig.port.begin_interrupt(rig.core, false);
  const std::uint64_t before = barriers();
  EXPECT_FALSE(rig.port.end_interrupt(rig.core));
  EXPECT_EQ(barriers(), before + 1);
}

TEST(VirtioPort, completions_are_reaped_and_what_came_meanwhile_is_seen) {
  Rig rig({});
  rig.add(BlkOp::kFlush, 0, 77);
  rig.add(BlkOp::kFlush, 0, 88);
  rig.port.publish(rig.core);
  rig.ring.complete(rig.ring.avail(1), 1);
  rig.port.begin_interrupt(rig.core, false);
  EXPECT_EQ(rig.ring.avail_flags(), kAvailNoInterrupt);
  EXPECT_EQ(rig.port.reap(rig.core), 88u);
  EXPECT_EQ(rig.port.reap(rig.core), std::nullopt);
  rig.ring.complete(rig.ring.avail(0), 1);
  EXPECT_TRUE(rig.port.end_interrupt(rig.core));
  EXPECT_EQ(rig.port.reap(rig.core), 77u);
  EXPECT_FALSE(rig.port.end_interrupt(rig.core));
  EXPECT_EQ(rig.ring.avail_flags(), 0);
}

TEST(VirtioPort, a_processor_that_slept_pays_for_its_interrupt_controller) {
  const auto busy_ps = [](const VirtioPortConfig& config, bool slept) {
    Rig rig(config);
    rig.port.begin_interrupt(rig.core, slept);
    return rig.core.busy_ps();
  };
  EXPECT_EQ(busy_ps({.apic_exits = 2}, false), busy_ps({}, true));
  EXPECT_GT(busy_ps({.apic_exits = 2}, true), busy_ps({.apic_exits = 1}, true));
  EXPECT_GT(busy_ps({.acknowledges = true}, false), busy_ps({}, false));
}

}  // namespace
}  // namespace vringlab::sim
