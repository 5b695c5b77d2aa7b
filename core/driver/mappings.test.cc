// A ring with a DMA api: every chain is mapped whole or not at all, and each way
// back undoes exactly what was done.
#include "core/driver/mappings.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "core/driver/driver_ring.h"
#include "core/memory/direct_access.h"
#include "tests/double/counting_dma.h"
#include "tests/double/raw_guest.h"

namespace vringlab {
namespace {

using test::CountingDma;
using test::kIndirect;
using test::RawGuest;
using test::RawRing;

constexpr std::uint64_t kPlatform = feature(kFeatureAccessPlatform);
constexpr std::uint64_t kTables = 0x4000;
constexpr std::uint16_t kTableEntries = 8;
constexpr std::uint32_t kTableBytes = 3 * sizeof(Desc);
constexpr std::array kBuffers = {Buffer{{0x8000}, 10}, Buffer{{0x9010}, 20}, Buffer{{0xa020}, 30},
                                 Buffer{{0xb030}, 40}, Buffer{{0xc040}, 50}};

std::span<const Buffer> buffers(std::size_t count) { return std::span(kBuffers).first(count); }

struct Driver {
  CountingDma dma;
  RawGuest guest{{{0, 0x10000}}};
  RawRing ring;
  DriverRing<DirectDriverAccess, CountingDma> driver;

  explicit Driver(std::uint64_t features, std::uint32_t size = 8)
      : ring(guest, size, features),
        driver(DirectDriverAccess(ring.areas), ring.config,
               {{kTables}, reinterpret_cast<Desc*>(&guest.byte(kTables)), kTableEntries}, &dma) {}
  ~Driver() { EXPECT_EQ(dma.fault(), ""); }

  std::uint16_t add(std::size_t readable, std::size_t writable, Token token = 0) {
    const auto head = driver.add(buffers(readable), buffers(writable), token);
    EXPECT_TRUE(head.ok()) << describe(head.error());
    return head.value();
  }
  RingError add_error(std::size_t readable, std::size_t writable) {
    return driver.add(buffers(readable), buffers(writable), 0).error();
  }
  void complete(std::uint16_t head, std::uint32_t len) {
    driver.publish();
    ring.complete(head, len);
    EXPECT_TRUE(driver.reap());
  }
  // Where the device finds the buffer of a descriptor.
  Result<GuestAddr> reach(const Desc& desc) {
    return dma.guest({desc.addr}, desc.len, (desc.flags & kDescWrite) != 0);
  }
  Desc table(const Desc& head, std::size_t entry) {
    Desc desc;
    const auto at = dma.guest({head.addr}, head.len, false);
    EXPECT_TRUE(at.ok());
    std::memcpy(&desc, &guest.byte(at.value().value + entry * sizeof(Desc)), sizeof(desc));
    return desc;
  }
};

TEST(DriverDma, d04_each_descriptor_is_mapped_and_unmapped_with_its_direction) {
  for (const std::uint64_t features : {kPlatform, kPlatform | kIndirect}) {
    Driver d(features);
    const std::uint16_t head = d.add(1, 1);
    const bool table = features != kPlatform;
    EXPECT_EQ(d.dma.mapped(), table ? 3u : 2u);
    const Desc readable = table ? d.table(d.ring.desc(head), 0) : d.ring.desc(0);
    const Desc writable = table ? d.table(d.ring.desc(head), 1) : d.ring.desc(1);
    EXPECT_EQ(d.reach(readable).value(), (GuestAddr{0x8000}));
    EXPECT_EQ(d.reach(writable).value(), (GuestAddr{0x8000}));
    EXPECT_FALSE(d.dma.guest({readable.addr}, 1, true).ok());
    EXPECT_FALSE(d.dma.guest({writable.addr}, 1, false).ok());
    d.complete(head, 10);
    EXPECT_EQ(d.dma.mapped(), 0u);
    EXPECT_EQ(d.dma.mapped_bytes(), 0u);
  }
}

TEST(DriverDma, without_access_platform_addresses_stay_as_they_are) {
  Driver d(kIndirect);
  d.add(1, 0);
  d.add(1, 2);
  EXPECT_EQ(d.ring.desc(0).addr, 0x8000u);
  EXPECT_EQ(d.ring.desc(1).addr, kTables + kTableEntries * sizeof(Desc));
  EXPECT_EQ(d.dma.maps(), 0u);
  EXPECT_EQ(d.driver.dma(), nullptr);
}

TEST(DriverDma, the_api_can_be_asked_for) {
  Driver d(kPlatform);
  EXPECT_EQ(d.driver.dma(), &d.dma);
}

TEST(DriverDma, d03_third_map_of_five_fails) {
  for (const std::uint64_t features : {kPlatform, kPlatform | kIndirect}) {
    Driver d(features);
    d.add(1, 0);
    d.dma.fail_after(2);
    EXPECT_EQ(d.add_error(3, 2), RingError::kDmaMapping);
    EXPECT_EQ(d.dma.unmaps(), 2u);
    EXPECT_EQ(d.dma.mapped(), 1u);
    EXPECT_EQ(d.driver.state().free_count, 7);
    EXPECT_EQ(d.driver.state().in_flight, 1);
    d.complete(d.add(3, 2), 30);
    EXPECT_EQ(d.dma.mapped(), 1u);
    EXPECT_EQ(d.driver.state().free_count, 7);
  }
}

TEST(DriverDma, d03_any_map_fails) {
  for (const std::uint64_t features : {kPlatform, kPlatform | kIndirect}) {
    const int maps = features == kPlatform ? 5 : 6;  // the last is that of the table
    for (int good = 0; good < maps; ++good) {
      Driver d(features);
      d.dma.fail_after(good);
      EXPECT_EQ(d.add_error(2, 3), RingError::kDmaMapping);
      EXPECT_EQ(d.dma.unmaps(), static_cast<std::uint64_t>(good));
      EXPECT_EQ(d.dma.mapped(), 0u);
      EXPECT_EQ(d.driver.state().free_count, 8);
      EXPECT_EQ(d.driver.state().next_avail, 0);
      d.complete(d.add(2, 3), 60);
      EXPECT_EQ(d.dma.mapped(), 0u);
    }
  }
}

TEST(DriverDma, d01_premapped_with_a_table_of_three) {
  Driver d(kPlatform | kIndirect);
  ASSERT_EQ(d.driver.set_premapped(), RingError::kNone);
  const std::uint16_t head = d.add(1, 2);
  EXPECT_EQ(d.dma.maps(), 1u);
  EXPECT_EQ(d.dma.mapped_bytes(), kTableBytes);
  EXPECT_EQ(d.table(d.ring.desc(head), 0).addr, 0x8000u);  // as the caller gave it
  d.complete(head, 30);
  EXPECT_EQ(d.dma.unmaps(), 1u);
  EXPECT_EQ(d.dma.mapped(), 0u);
}

TEST(DriverDma, d01_premapped_and_the_table_cannot_be_mapped) {
  Driver d(kPlatform | kIndirect);
  ASSERT_EQ(d.driver.set_premapped(), RingError::kNone);
  d.dma.fail_after(0);
  EXPECT_EQ(d.add_error(1, 2), RingError::kDmaMapping);
  EXPECT_EQ(d.driver.state().free_count, 8);
  d.complete(d.add(1, 2), 30);
  EXPECT_EQ(d.dma.mapped(), 0u);
}

TEST(DriverDma, premapped_direct_chains_touch_the_api_never) {
  Driver d(kPlatform);
  ASSERT_EQ(d.driver.set_premapped(), RingError::kNone);
  d.complete(d.add(2, 2), 30);
  d.add(1, 0);
  EXPECT_TRUE(d.driver.detach_unused());
  EXPECT_EQ(d.dma.maps() + d.dma.unmaps(), 0u);
}

TEST(DriverDma, premapped_needs_an_api_and_an_empty_queue) {
  Driver plain(0);
  EXPECT_EQ(plain.driver.set_premapped(), RingError::kNoDmaApi);
  EXPECT_FALSE(plain.driver.state().premapped);
  Driver d(kPlatform);
  const std::uint16_t head = d.add(1, 0);
  EXPECT_EQ(d.driver.set_premapped(), RingError::kQueueNotEmpty);
  EXPECT_FALSE(d.driver.state().premapped);
  d.complete(head, 0);
  EXPECT_EQ(d.driver.set_premapped(), RingError::kNone);
}

// A chain of each kind in flight.
void fill(Driver& d) {
  d.add(1, 0, 1);
  d.add(2, 1, 2);
  d.add(0, 1, 3);
}

TEST(DriverDma, d06_detach_unmaps) {
  for (const std::uint64_t features : {kPlatform, kPlatform | kIndirect}) {
    Driver d(features);
    fill(d);
    for (Token token = 1; token <= 3; ++token) EXPECT_TRUE(d.driver.detach_unused());
    EXPECT_FALSE(d.driver.detach_unused());
    EXPECT_FALSE(d.driver.detach_unused());
    EXPECT_EQ(d.dma.mapped(), 0u);
  }
}

TEST(DriverDma, d05_reset_unmaps_what_it_forgets) {
  for (const std::uint64_t features : {kPlatform, kPlatform | kIndirect}) {
    Driver d(features);
    fill(d);
    d.driver.reset();
    EXPECT_EQ(d.dma.mapped(), 0u);
    EXPECT_TRUE(d.driver.state().maps);
    d.complete(d.add(1, 2), 30);
    EXPECT_EQ(d.dma.mapped(), 0u);
  }
}

TEST(DriverDma, i08_a_broken_queue_unmaps_by_detach_and_nothing_before) {
  Driver d(kPlatform | kIndirect);
  const std::uint16_t head = d.add(1, 2, 5);
  d.driver.publish();
  d.ring.complete(head, 31);
  EXPECT_FALSE(d.driver.reap());
  EXPECT_EQ(d.dma.mapped(), 4u);
  EXPECT_EQ(d.add_error(1, 0), RingError::kQueueBroken);
  EXPECT_EQ(d.driver.detach_unused(), Token{5});
  EXPECT_EQ(d.dma.mapped(), 0u);
}

// What is unmapped is no business of the device, whatever it writes over descriptors and tables.
TEST(DriverDma, i08_the_device_rewrites_the_descriptors) {
  for (const std::uint64_t features : {kPlatform, kPlatform | kIndirect}) {
    Driver d(features);
    fill(d);
    for (std::size_t i = 0; i < 8; ++i) d.ring.desc(i) = {~0ull, ~0u, 0xffff, 0xffff};
    for (std::uint64_t at = kTables; at < kTables + 0x400; ++at) d.guest.byte(at) = std::byte{0xff};
    while (d.driver.detach_unused()) {
    }
    EXPECT_EQ(d.dma.mapped(), 0u);
  }
}

TEST(DriverDma, without_a_mapping_api_a_ring_is_as_small_as_ever) {
  static_assert(sizeof(DriverRing<DirectDriverAccess>) + sizeof(Mappings<CountingDma>) <=
                sizeof(DriverRing<DirectDriverAccess, CountingDma>) + alignof(std::max_align_t));
  static_assert(std::is_empty_v<Mappings<NoDma>>);
}

}  // namespace
}  // namespace vringlab
