// Nothing on the driver's data paths allocates: operator new of the whole test
// program counts, and stands still while packets pass.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <new>

#include "core/driver/net_receive.h"
#include "core/driver/xsk_rx.h"
#include "core/driver/xsk_tx.h"
#include "core/memory/direct_access.h"
#include "tests/double/offset_dma.h"
#include "tests/double/raw_guest.h"
#include "tests/double/xsk_app.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define VRINGLAB_OWN_NEW 0  // sanitizers check new against delete: leave both to them
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define VRINGLAB_OWN_NEW 0
#endif
#endif
#ifndef VRINGLAB_OWN_NEW
#define VRINGLAB_OWN_NEW 1
#endif

namespace {
thread_local std::uint64_t allocations = 0;
}  // namespace

#if VRINGLAB_OWN_NEW
// The other forms of new and delete go through these. Not inlined: g++ would see malloc freed by
// delete, and object.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace vringlab {
namespace {

using test::OffsetDma;
using test::RawGuest;
using test::RawRing;
using Ring = DriverRing<DirectDriverAccess, OffsetDma>;

constexpr std::uint16_t kSize = 64;
constexpr std::uint64_t kTables = 0x4000;
constexpr std::uint64_t kData = 0x100000;
constexpr int kRounds = 500;

class NoAllocation : public testing::Test {
 protected:
  void SetUp() override {
    if (!VRINGLAB_OWN_NEW) GTEST_SKIP() << "new belongs to a sanitizer";
  }
  template <class Round>
  void expect_none(Round round) {
    for (int i = 0; i < 3; ++i) round();
    const std::uint64_t before = allocations;
    for (int i = 0; i < kRounds; ++i) round();
    EXPECT_EQ(allocations, before);
  }

  OffsetDma dma_;
  RawGuest guest_{{{0, 0x10000}, {kData, 0x100000}}};
  RawRing queue_{guest_, kSize,
                 feature(kFeatureAccessPlatform) | feature(kFeatureRingIndirectDesc)};
  Ring ring_{DirectDriverAccess(queue_.areas),
             queue_.config,
             {{kTables}, reinterpret_cast<Desc*>(&guest_.byte(kTables)), 4},
             &dma_};
  std::uint16_t next_ = 0;  // avail entry that the device takes

  // The device completes all that is available.
  void complete_all(std::uint32_t len) {
    while (next_ != queue_.avail_idx()) queue_.complete(queue_.avail(next_++ & (kSize - 1)), len);
  }
};

TEST_F(NoAllocation, the_counter_counts) {
  const std::uint64_t before = allocations;
  ::operator delete(::operator new(8));
  EXPECT_EQ(allocations, before + 1);
}

TEST_F(NoAllocation, a_ring_that_maps) {
  const std::array<Buffer, 6> buffers = {
      {{{kData}, 64}, {{kData}, 64}, {{kData}, 64}, {{kData}, 64}, {{kData}, 64}, {{kData}, 64}}};
  expect_none([&] {
    for (std::size_t count = 1; count <= buffers.size(); ++count)
      ASSERT_TRUE(ring_.add(std::span(buffers).first(count), {}, count).ok());
    ring_.publish();
    complete_all(0);
    while (ring_.reap()) {
    }
  });
  EXPECT_EQ(dma_.mapped, 0);
}

struct Sink {
  RxBuffers<MapPerFragment<OffsetDma>>* merged = nullptr;
  RxBuffers<MapPerBuffer<OffsetDma>>* single = nullptr;
  void packet(const VirtioNetHdr&, std::span<const RxPiece> pieces) {
    for (const RxPiece& piece : pieces) {
      if (merged != nullptr) merged->release(piece.token);
      if (single != nullptr) single->release(piece.token);
    }
  }
};

TEST_F(NoAllocation, receive_with_either_mapping) {
  ASSERT_EQ(ring_.set_premapped(), RingError::kNone);
  const RxBuffersConfig config{{kData}, 16, 32768, {}};
  RxBuffers<MapPerFragment<OffsetDma>> merged(dma_, config);
  RxBuffers<MapPerBuffer<OffsetDma>> single(dma_, config);
  Sink sink{&merged, nullptr};
  NetReceive a(ring_, merged, &guest_.byte(kData), sink);
  expect_none([&] {
    a.refill();
    complete_all(1200);
    ASSERT_GT(a.poll().packets, 0u);
  });
  while (const auto token = ring_.detach_unused()) a.recycle(*token);
  ring_.reset();
  next_ = 0;
  sink = {nullptr, &single};
  NetReceive b(ring_, single, &guest_.byte(kData), sink);
  expect_none([&] {
    b.refill();
    complete_all(1200);
    ASSERT_GT(b.poll().packets, 0u);
  });
}

TEST_F(NoAllocation, xsk_both_ways) {
  ASSERT_EQ(ring_.set_premapped(), RingError::kNone);
  XskUmem<OffsetDma> umem(dma_, {{kData}, &guest_.byte(kData), 128, 2048});
  ASSERT_EQ(umem.map(), RingError::kNone);
  test::XskApp app(64);
  XskTx tx(ring_, umem, app.tx.areas(), app.completion.areas(), {XskHeader::kShared, {0x3000}});
  ASSERT_EQ(tx.start(), RingError::kNone);
  expect_none([&] {
    for (std::uint64_t i = 0; i < 32; ++i) app.tx.offer({i * 2048 + 256, 60, 0});
    ASSERT_EQ(tx.step().sent, 32u);
    complete_all(0);
    ASSERT_EQ(tx.step().completed, 32u);
    app.completion.consumer = app.completion.producer;
  });
  XskRx rx(ring_, umem, app.fill.areas(), app.rx.areas(), kSize);
  expect_none([&] {
    for (std::uint64_t i = 0; i < 32; ++i) app.fill.offer(i * 2048);
    ASSERT_EQ(rx.step().refilled, 32u);
    complete_all(100);
    ASSERT_EQ(rx.step().received, 32u);
    app.rx.consumer = app.rx.producer;
  });
}

}  // namespace
}  // namespace vringlab
