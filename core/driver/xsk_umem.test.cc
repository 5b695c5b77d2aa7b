#include "core/driver/xsk_umem.h"

#include <gtest/gtest.h>

#include "tests/double/counting_dma.h"
#include "tests/double/raw_guest.h"

namespace vringlab {
namespace {

using test::CountingDma;

constexpr std::uint32_t kChunk = 2048;
constexpr std::uint64_t kBytes = 4 * kChunk;

struct Umem {
  CountingDma dma;
  test::RawGuest guest{{{0x10000, kBytes}}};
  XskUmem<CountingDma> umem{dma, {{0x10000}, &guest.byte(0x10000), 4, kChunk}};
};

TEST(XskUmem, is_mapped_once_for_both_directions) {
  Umem u;
  EXPECT_EQ(u.umem.map(), RingError::kNone);
  EXPECT_EQ(u.dma.mapped_bytes(), kBytes);
  EXPECT_EQ(u.dma.mapped(), 1u);
  for (const bool writes : {false, true})
    EXPECT_EQ(u.dma.guest(u.umem.device(5000), 10, writes).value(), (GuestAddr{0x10000 + 5000}));
  EXPECT_EQ(u.umem.host(5000), &u.guest.byte(0x10000 + 5000));
  u.umem.sync_for_cpu(5000, 10);
  u.umem.sync_for_device(0, kBytes);
  u.umem.unmap();
  u.umem.unmap();
  EXPECT_EQ(u.dma.mapped(), 0u);
  EXPECT_EQ(u.dma.fault(), "");
}

TEST(XskUmem, a_map_that_fails) {
  Umem u;
  u.dma.fail_after(0);
  EXPECT_EQ(u.umem.map(), RingError::kDmaMapping);
  u.umem.unmap();
  EXPECT_EQ(u.dma.unmaps(), 0u);
  EXPECT_EQ(u.umem.map(), RingError::kNone);
}

TEST(XskUmem, hostile_frames) {
  Umem u;
  EXPECT_TRUE(u.umem.is_frame({0, 1, 0}));
  EXPECT_TRUE(u.umem.is_frame({0, kChunk, 0}));
  EXPECT_FALSE(u.umem.is_frame({0, kChunk + 1, 0}));
  EXPECT_TRUE(u.umem.is_frame({kChunk + 100, kChunk - 100, 0}));
  EXPECT_FALSE(u.umem.is_frame({kChunk + 100, kChunk - 99, 0}));
  EXPECT_FALSE(u.umem.is_frame({0, 0, 0}));
  EXPECT_FALSE(u.umem.is_frame({0, 64, 1}));
  EXPECT_FALSE(u.umem.is_frame({0, UINT32_MAX, 0}));
  EXPECT_TRUE(u.umem.is_frame({kBytes - 1, 1, 0}));
  EXPECT_FALSE(u.umem.is_frame({kBytes, 1, 0}));
  EXPECT_FALSE(u.umem.is_frame({UINT64_MAX, 1, 0}));
  EXPECT_FALSE(u.umem.is_frame({std::uint64_t{1} << 32, 1, 0}));
}

TEST(XskUmem, hostile_chunks) {
  Umem u;
  EXPECT_EQ(u.umem.chunk_of(0), 0u);
  EXPECT_EQ(u.umem.chunk_of(kChunk - 1), 0u);
  EXPECT_EQ(u.umem.chunk_of(kChunk), kChunk);
  EXPECT_EQ(u.umem.chunk_of(kBytes - 1), kBytes - kChunk);
  EXPECT_FALSE(u.umem.chunk_of(kBytes));
  EXPECT_FALSE(u.umem.chunk_of(UINT64_MAX));
}

}  // namespace
}  // namespace vringlab
