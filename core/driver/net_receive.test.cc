#include "core/driver/net_receive.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/driver/driver_ring.h"
#include "core/memory/direct_access.h"
#include "tests/double/counting_dma.h"
#include "tests/double/raw_guest.h"

namespace vringlab {
namespace {

using test::CountingDma;
using test::RawGuest;
using test::RawRing;

constexpr std::uint64_t kBase = 0x4000;
constexpr std::uint16_t kSize = 8;
constexpr RxBuffersConfig kConfig{
    {kBase}, 4, 1024, {.header_bytes = 12, .min_bytes = 244, .page_bytes = 512}};

template <class Buffers>
struct KeepingStack {
  Buffers* buffers;
  bool keeps = false;  // pieces, until told otherwise
  std::vector<std::vector<RxPiece>> packets;

  void packet(const VirtioNetHdr&, std::span<const RxPiece> pieces) {
    packets.emplace_back(pieces.begin(), pieces.end());
    if (!keeps)
      for (const RxPiece& piece : pieces) buffers->release(piece.token);
  }
};

template <class Mapping>
struct Rig {
  using Buffers = RxBuffers<Mapping>;

  CountingDma dma;
  RawGuest guest{{{0, 0x8000}}};
  RawRing ring{guest, kSize, feature(kFeatureAccessPlatform)};
  DriverRing<DirectDriverAccess, CountingDma> driver{
      DirectDriverAccess(ring.areas), ring.config, {}, &dma};
  Buffers buffers{dma, kConfig};
  KeepingStack<Buffers> stack{&buffers};
  NetReceive<decltype(driver), Buffers, KeepingStack<Buffers>> receive{driver, buffers,
                                                                       &guest.byte(kBase), stack};
  std::uint16_t next = 0;  // avail entry that the device takes

  Rig() {
    EXPECT_EQ(driver.set_premapped(), RingError::kNone);
    EXPECT_EQ(receive.refill(), kSize);
  }
  ~Rig() {
    while (const auto token = driver.detach_unused()) receive.recycle(*token);
    buffers.retire();
    EXPECT_EQ(dma.mapped(), 0u);
    EXPECT_EQ(dma.fault(), "");
    if (!stack.keeps) {
      EXPECT_EQ(buffers.idle(), kConfig.fragments);
    }
  }

  // The device writes a packet's first (or another) buffer.
  void write(std::uint32_t len, std::uint16_t num_buffers, bool first = true) {
    const std::uint16_t head = ring.avail(next++ & (kSize - 1));
    const auto addr = dma.guest({ring.desc(head).addr}, ring.desc(head).len, true);
    ASSERT_TRUE(addr.ok());
    VirtioNetHdr header;
    header.num_buffers = num_buffers;
    if (first) guest.write(addr.value().value, header);
    ring.complete(head, len);
  }
};

template <class Mapping>
class NetReceiveOf : public testing::Test {};
using Policies = testing::Types<MapPerFragment<CountingDma>, MapPerBuffer<CountingDma>>;
TYPED_TEST_SUITE(NetReceiveOf, Policies);

TYPED_TEST(NetReceiveOf, a_packet_without_its_header) {
  Rig<TypeParam> rig;
  rig.write(12 + 60, 1);
  const PollResult result = rig.receive.poll();
  EXPECT_EQ(result.packets, 1u);
  EXPECT_EQ(result.buffers, 1u);
  ASSERT_EQ(rig.stack.packets.size(), 1u);
  EXPECT_EQ(rig.stack.packets[0][0].len, 60u);
  EXPECT_EQ(rig.stack.packets[0][0].addr.value % 256, kBase % 256 + 12);
  EXPECT_EQ(rig.buffers.average(), 60u);
}

TYPED_TEST(NetReceiveOf, a_packet_of_three_buffers) {
  Rig<TypeParam> rig;
  rig.write(256, 3);
  rig.write(256, 0, false);
  rig.write(100, 0, false);
  EXPECT_EQ(rig.receive.poll().packets, 1u);
  ASSERT_EQ(rig.stack.packets[0].size(), 3u);
  EXPECT_EQ(rig.stack.packets[0][2].len, 100u);
  EXPECT_EQ(rig.buffers.average(), 244u + 256 + 100);
}

TYPED_TEST(NetReceiveOf, too_short_is_dropped_and_its_buffer_not_lost) {
  for (const std::uint32_t len : {0u, 11u, 12u, 12u + 13}) {
    Rig<TypeParam> rig;
    rig.write(len, 1);
    rig.write(12 + 14, 1);
    const PollResult result = rig.receive.poll();
    EXPECT_EQ(result.dropped, 1u) << len;
    EXPECT_EQ(result.packets, 1u);
    EXPECT_EQ(rig.buffers.state().held, 0u);
  }
}

TYPED_TEST(NetReceiveOf, buffers_that_are_missing) {
  Rig<TypeParam> rig;
  rig.write(100, 3);
  rig.write(100, 0, false);
  const PollResult result = rig.receive.poll();
  EXPECT_EQ(result.packets, 0u);
  EXPECT_EQ(result.dropped, 1u);
  EXPECT_EQ(result.buffers, 2u);
  EXPECT_EQ(rig.buffers.state().held, 0u);
}

TYPED_TEST(NetReceiveOf, a_packet_of_no_buffers_is_one_of_one) {
  Rig<TypeParam> rig;
  rig.write(100, 0);
  rig.write(100, 1);
  EXPECT_EQ(rig.receive.poll().packets, 2u);
}

TYPED_TEST(NetReceiveOf, the_budget_bounds_a_poll_and_half_of_it_is_refilled) {
  Rig<TypeParam> rig;
  for (int i = 0; i < 8; ++i) rig.write(100, 1);
  PollResult result = rig.receive.poll(4);
  EXPECT_EQ(result.packets, 4u);
  EXPECT_EQ(result.refilled, 4u);
  EXPECT_TRUE(result.kick);
  result = rig.receive.poll(8);
  EXPECT_EQ(result.packets, 4u);
  EXPECT_EQ(result.refilled, 0u);  // four of eight are there
  rig.write(100, 1);
  EXPECT_EQ(rig.receive.poll(8).refilled, 5u);
}

TYPED_TEST(NetReceiveOf, a_stack_that_keeps_all_starves_the_ring_and_not_more) {
  Rig<TypeParam> rig;
  rig.stack.keeps = true;
  for (int i = 0; i < 16; ++i) {
    rig.write(100, 1);
    EXPECT_EQ(rig.receive.poll(2).packets, 1u);
  }
  EXPECT_EQ(rig.driver.state().in_flight, 0);
  for (const auto& packet : rig.stack.packets) rig.buffers.release(packet[0].token);
  EXPECT_EQ(rig.receive.refill(), kSize);
}

}  // namespace
}  // namespace vringlab
