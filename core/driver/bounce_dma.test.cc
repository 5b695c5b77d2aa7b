#include "core/driver/bounce_dma.h"

#include <gtest/gtest.h>

#include "core/driver/driver_ring.h"
#include "core/driver/rx_buffers.h"
#include "core/memory/direct_access.h"
#include "tests/double/raw_guest.h"

namespace vringlab {
namespace {

using enum DmaDirection;
using test::RawGuest;
using test::RawRing;

constexpr std::uint64_t kPool = 0x10000;
constexpr std::uint32_t kSlot = 256;

struct Bounce {
  RawGuest guest{{{0, 0x8000}, {kPool, 8 * kSlot}}};
  BounceDma dma{guest.memory(), {{kPool}, 8, kSlot}};

  std::byte at(std::uint64_t addr) { return guest.byte(addr); }
  void put(std::uint64_t addr, int value) { guest.byte(addr) = std::byte(value); }
  DmaAddr map(std::uint64_t addr, std::uint32_t len, DmaDirection way) {
    const auto dma_addr = dma.map({addr}, len, way);
    EXPECT_TRUE(dma_addr.ok()) << describe(dma_addr.error());
    return dma_addr.value();
  }
};

TEST(BounceDma, what_the_device_reads_is_copied_in_and_never_out) {
  Bounce b;
  b.put(0x1003, 7);
  const DmaAddr dma = b.map(0x1003, 300, kToDevice);
  EXPECT_GE(dma.value, kPool);
  EXPECT_EQ(b.at(dma.value), std::byte{7});
  b.put(dma.value, 9);
  b.dma.sync_for_cpu(dma, 300, kToDevice);
  b.dma.unmap(dma, 300, kToDevice);
  EXPECT_EQ(b.at(0x1003), std::byte{7});
  EXPECT_EQ(b.dma.state().copied_out, 0u);
  EXPECT_EQ(b.dma.state().copied_in, 300u);
}

TEST(BounceDma, what_the_device_writes_is_copied_out) {
  Bounce b;
  const DmaAddr dma = b.map(0x1000, 4, kFromDevice);
  b.put(dma.value + 3, 5);
  EXPECT_EQ(b.at(0x1003), std::byte{0});
  b.dma.unmap(dma, 4, kFromDevice);
  EXPECT_EQ(b.at(0x1003), std::byte{5});
  EXPECT_EQ(b.dma.state().slots_in_use, 0u);
}

TEST(BounceDma, what_the_device_leaves_unwritten_stays_as_it_was) {
  Bounce b;
  b.guest.fill(kPool, 8 * kSlot);  // of others
  b.put(0x1001, 3);
  const DmaAddr dma = b.map(0x1000, 2, kFromDevice);
  b.put(dma.value, 5);
  b.dma.unmap(dma, 2, kFromDevice);
  EXPECT_EQ(b.at(0x1000), std::byte{5});
  EXPECT_EQ(b.at(0x1001), std::byte{3});
}

TEST(BounceDma, a_sync_copies_the_part_it_names) {
  Bounce b;
  const DmaAddr dma = b.map(0x1000, 400, kBidirectional);
  b.guest.fill(dma.value, 400);
  b.dma.sync_for_cpu(dma + 300, 2, kBidirectional);
  EXPECT_EQ(b.at(0x1000 + 299), std::byte{0});
  EXPECT_EQ(b.at(0x1000 + 301), b.at(dma.value + 301));
  EXPECT_EQ(b.at(0x1000 + 302), std::byte{0});
  b.put(0x1000 + 350, 1);
  b.put(0x1000 + 351, 1);
  b.dma.sync_for_device(dma + 350, 1, kBidirectional);
  EXPECT_EQ(b.at(dma.value + 350), std::byte{1});
  EXPECT_NE(b.at(dma.value + 351), std::byte{1});
  b.dma.sync_for_device(dma, 400, kFromDevice);  // the device reads nothing
  EXPECT_NE(b.at(dma.value + 351), std::byte{1});
}

TEST(BounceDma, an_exhausted_pool_fails_to_map) {
  Bounce b;
  const DmaAddr first = b.map(0, 4 * kSlot, kToDevice);
  b.map(0, 4 * kSlot - 1, kToDevice);
  EXPECT_EQ(b.dma.map({0}, 1, kToDevice).error(), RingError::kDmaMapping);
  EXPECT_EQ(b.dma.state().failed, 1u);
  b.dma.unmap(first, 4 * kSlot, kToDevice);
  EXPECT_EQ(b.dma.map({0}, 4 * kSlot + 1, kToDevice).error(), RingError::kDmaMapping);
  EXPECT_EQ(b.map(0, 4 * kSlot, kToDevice), first);
}

TEST(BounceDma, holes_are_found_again) {
  Bounce b;
  DmaAddr dma[8];
  for (auto& each : dma) each = b.map(0, kSlot, kToDevice);
  b.dma.unmap(dma[2], kSlot, kToDevice);
  b.dma.unmap(dma[5], kSlot, kToDevice);
  EXPECT_EQ(b.dma.map({0}, kSlot + 1, kToDevice).error(), RingError::kDmaMapping);
  EXPECT_EQ(b.map(0, 1, kToDevice), dma[2]);
  EXPECT_EQ(b.map(0, 0, kToDevice), dma[5]);  // a buffer of no bytes has an address
}

TEST(BounceDma, what_is_no_memory_is_not_mapped) {
  Bounce b;
  EXPECT_EQ(b.dma.map({0x7fff}, 2, kToDevice).error(), RingError::kAddressOutsideMemory);
  EXPECT_EQ(b.dma.state().slots_in_use, 0u);
}

// What the device wrote is the processor's by the time a buffer is detached, and what it wrote
// later is not.
template <class Mapping>
void expect_received() {
  Bounce b;
  RxBuffers<Mapping> buffers(b.dma, {{0x1000}, 1, 4 * kSlot, {12, 100, kSlot}});
  const auto first = buffers.take();
  const auto second = buffers.take();
  ASSERT_TRUE(first.ok() && second.ok());
  const std::uint64_t device = second.value().device.addr.value;
  ASSERT_GE(device, kPool);
  b.put(device + 20, 7);
  buffers.detach(second.value().token, 21);
  EXPECT_EQ(b.at(second.value().addr.value + 20), std::byte{7});
  b.put(device + 20, 8);
  EXPECT_EQ(b.at(second.value().addr.value + 20), std::byte{7});
  buffers.release(second.value().token);
  buffers.give_back(first.value().token);
  buffers.retire();
  EXPECT_EQ(b.dma.state().slots_in_use, 0u);
}

// Two packets of one fragment: the stack changes the first, as it may, before the last is back.
TEST(BounceDma, the_end_of_a_fragments_mapping_leaves_its_packets_alone) {
  Bounce b;
  RxBuffers<MapPerFragment<BounceDma>> buffers(b.dma, {{0x1000}, 1, 4 * kSlot, {12, 100, kSlot}});
  const auto first = buffers.take();
  const auto second = buffers.take();
  ASSERT_TRUE(first.ok() && second.ok());
  buffers.retire();
  buffers.detach(first.value().token, 21);
  b.put(first.value().addr.value + 20, 9);
  buffers.detach(second.value().token, 21);
  EXPECT_EQ(b.dma.state().slots_in_use, 0u);
  EXPECT_EQ(b.at(first.value().addr.value + 20), std::byte{9});
}

TEST(BounceDma, an_unmap_without_a_sync_copies_nothing) {
  Bounce b;
  const DmaAddr dma = b.map(0x1000, 4, kFromDevice);
  b.put(dma.value + 3, 5);
  b.dma.unmap_unsynced(dma, 4, kFromDevice);
  EXPECT_EQ(b.at(0x1003), std::byte{0});
  EXPECT_EQ(b.dma.state().copied_out, 0u);
  EXPECT_EQ(b.dma.state().slots_in_use, 0u);
  EXPECT_EQ(b.dma.state().unmaps, 1u);
}

TEST(BounceDma, both_ends_of_a_mapped_byte_are_known) {
  Bounce b;
  b.map(0, kSlot, kToDevice);
  const DmaAddr dma = b.map(0x1000, 2 * kSlot, kToDevice);
  const BounceDma::Ends ends = b.dma.ends(dma + kSlot + 3);
  EXPECT_EQ(ends.pool, &b.guest.byte(dma.value + kSlot + 3));
  EXPECT_EQ(ends.original, &b.guest.byte(0x1000 + kSlot + 3));
}

TEST(BounceDma, receive_buffers_with_either_mapping) {
  expect_received<MapPerFragment<BounceDma>>();
  expect_received<MapPerBuffer<BounceDma>>();
}

// Through a ring, with a table: the device sees the pool only, and finds all there.
TEST(BounceDma, d04_a_ring_bounces_both_ways) {
  Bounce b;
  RawRing ring(b.guest, 8, feature(kFeatureAccessPlatform) | test::kIndirect);
  DriverRing<DirectDriverAccess, BounceDma> driver(
      DirectDriverAccess(ring.areas), ring.config,
      {{0x4000}, reinterpret_cast<Desc*>(&b.guest.byte(0x4000)), 4}, &b.dma);
  b.put(0x1000, 1);
  const Buffer readable{{0x1000}, 10};
  const Buffer writable{{0x2000}, 10};
  const auto head = driver.add({&readable, 1}, {&writable, 1}, 3);
  ASSERT_TRUE(head.ok());
  driver.publish();
  Desc table[2];
  ASSERT_GE(ring.desc(head.value()).addr, kPool);
  std::memcpy(table, &b.guest.byte(ring.desc(head.value()).addr), sizeof(table));
  ASSERT_GE(table[0].addr, kPool);
  EXPECT_EQ(b.at(table[0].addr), std::byte{1});
  b.put(table[1].addr, 2);
  ring.complete(head.value(), 1);
  EXPECT_TRUE(driver.reap());
  EXPECT_EQ(b.at(0x2000), std::byte{2});
  EXPECT_EQ(b.dma.state().slots_in_use, 0u);
  // Two of the three slots that another chain takes are left.
  b.map(0, 6 * kSlot, kToDevice);
  EXPECT_EQ(driver.add({&readable, 1}, {&writable, 1}, 4).error(), RingError::kDmaMapping);
  EXPECT_EQ(b.dma.state().slots_in_use, 6u);
}

}  // namespace
}  // namespace vringlab
