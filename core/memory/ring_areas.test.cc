#include "core/memory/ring_areas.h"

#include <gtest/gtest.h>

#include "tests/double/raw_guest.h"

namespace vringlab {
namespace {

using test::kEventIdx;
using test::packed_ring;
using test::RawGuest;

RingError error_of(const RawGuest& guest, const QueueConfig& config) {
  return map_ring_areas(guest.memory(), config).error();
}

TEST(RingAreas, point_where_the_driver_said) {
  RawGuest guest({{0x1000, 0x1000}});
  const QueueConfig config = packed_ring(8, kEventIdx, 0x1000);
  const auto areas = map_ring_areas(guest.memory(), config);
  ASSERT_TRUE(areas.ok());
  const auto host = [](const auto* area) { return reinterpret_cast<const std::byte*>(area); };
  EXPECT_EQ(host(areas.value().desc), &guest.byte(0x1000));
  EXPECT_EQ(host(areas.value().avail), &guest.byte(0x1080));
  EXPECT_EQ(host(areas.value().used), &guest.byte(config.used.value));
  EXPECT_EQ(host(areas.value().used_ring()), &guest.byte(config.used.value + 4));
  EXPECT_EQ(areas.value().size, 8);
  EXPECT_EQ(areas.value().mask(), 7);
}

TEST(RingAreas, d07_size) {
  RawGuest guest({{0, 0x100000}});
  for (const std::uint32_t size : {1u, 2u, 32768u})
    EXPECT_EQ(error_of(guest, packed_ring(size, 0)), RingError::kNone) << size;
  for (const std::uint32_t size : {0u, 3u, 65536u})
    EXPECT_EQ(error_of(guest, packed_ring(size, 0)), RingError::kQueueSize) << size;
}

TEST(RingAreas, alignment_of_each) {
  RawGuest guest({{0, 0x10000}});
  const QueueConfig good{
      .size = 8, .desc = {0x1010}, .avail = {0x2002}, .used = {0x3004}, .features = 0};
  EXPECT_EQ(error_of(guest, good), RingError::kNone);
  QueueConfig bad = good;
  bad.desc = {0x1008};
  EXPECT_EQ(error_of(guest, bad), RingError::kRingAreaAlignment);
  bad = good;
  bad.avail = {0x2001};
  EXPECT_EQ(error_of(guest, bad), RingError::kRingAreaAlignment);
  bad = good;
  bad.used = {0x3002};
  EXPECT_EQ(error_of(guest, bad), RingError::kRingAreaAlignment);
}

// Each area at the very end of memory, whole and one step too far.
TEST(RingAreas, w15_up_to_the_end_and_no_further) {
  RawGuest guest({{0, 0x10000}});
  const QueueConfig good = packed_ring(8, 0);
  for (GuestAddr QueueConfig::*area :
       {&QueueConfig::desc, &QueueConfig::avail, &QueueConfig::used}) {
    const std::uint64_t bytes = area == &QueueConfig::desc    ? desc_bytes(8)
                                : area == &QueueConfig::avail ? avail_bytes(8, false)
                                                              : used_bytes(8, false);
    const std::uint64_t align = area == &QueueConfig::desc    ? 16
                                : area == &QueueConfig::avail ? 2
                                                              : 4;
    QueueConfig config = good;
    (config.*area).value = 0x10000 - bytes;
    EXPECT_EQ(error_of(guest, config), RingError::kNone);
    (config.*area).value += align;
    EXPECT_EQ(error_of(guest, config), RingError::kRingAreaOutsideMemory);
  }
}

TEST(RingAreas, w16_starts_in_one_region_and_ends_in_another) {
  // Both ends are memory; what lies between is a hole, or the host's end of a region.
  RawGuest hole({{0, 0x1000}, {0x1010, 0x1000}});
  RawGuest seam({{0, 0x1000}, {0x1000, 0x1000}});
  for (RawGuest* guest : {&hole, &seam}) {
    QueueConfig config = packed_ring(8, 0);
    config.desc = {0x1000 - 128};
    EXPECT_EQ(error_of(*guest, config), RingError::kNone);
    config.desc = {0x1000 - 64};
    EXPECT_EQ(error_of(*guest, config), RingError::kRingAreaOutsideMemory);
    config = packed_ring(8, 0);
    config.avail = {0x1000 - 2};
    EXPECT_EQ(error_of(*guest, config), RingError::kRingAreaOutsideMemory);
    config = packed_ring(8, 0);
    config.used = {0x1000 - 4};
    EXPECT_EQ(error_of(*guest, config), RingError::kRingAreaOutsideMemory);
  }
}

TEST(RingAreas, n07_event_words_count_where_negotiated) {
  RawGuest guest({{0, 0x10000}});
  QueueConfig config = packed_ring(8, 0);
  config.avail = {0x10000 - avail_bytes(8, false)};
  EXPECT_EQ(error_of(guest, config), RingError::kNone);
  config.features = kEventIdx;
  EXPECT_EQ(error_of(guest, config), RingError::kRingAreaOutsideMemory);
  config.avail.value -= 2;
  EXPECT_EQ(error_of(guest, config), RingError::kNone);

  config = packed_ring(8, 0);
  config.used = {0x10000 - used_bytes(8, false)};
  EXPECT_EQ(error_of(guest, config), RingError::kNone);
  config.features = kEventIdx;
  EXPECT_EQ(error_of(guest, config), RingError::kRingAreaOutsideMemory);
  config.used.value -= 4;  // the next aligned place that has the two bytes
  EXPECT_EQ(error_of(guest, config), RingError::kNone);
}

TEST(RingAreas, w14_address_overflows) {
  RawGuest guest({{0, 0x10000}});
  QueueConfig config = packed_ring(8, 0);
  config.desc = {0xfffffffffffffff0};
  EXPECT_EQ(error_of(guest, config), RingError::kRingAreaOutsideMemory);
}

}  // namespace
}  // namespace vringlab
