// Both ways to map receive buffers, against a plain reference that only counts.
#include "core/driver/rx_buffers.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

#include "tests/double/counting_dma.h"

namespace vringlab {
namespace {

using test::CountingDma;
using Merged = MapPerFragment<CountingDma>;
using Single = MapPerBuffer<CountingDma>;

constexpr std::uint64_t kBase = 0x100000;
// Four buffers of at least 256 bytes in each of three fragments.
constexpr RxBuffersConfig kSmall{
    {kBase}, 3, 1024, {.header_bytes = 12, .min_bytes = 244, .page_bytes = 512}};

template <class Mapping>
struct Rig {
  CountingDma dma;
  RxBuffers<Mapping> buffers;

  explicit Rig(const RxBuffersConfig& config = kSmall) : buffers(dma, config) {}
  ~Rig() { EXPECT_EQ(dma.fault(), ""); }

  RxBuffer take() {
    const auto buffer = buffers.take();
    EXPECT_TRUE(buffer.ok()) << describe(buffer.error());
    return buffer.value();
  }
  RingError take_error() { return buffers.take().error(); }
  std::vector<RxBuffer> take(int count) {
    std::vector<RxBuffer> taken;
    for (; count > 0; --count) taken.push_back(take());
    return taken;
  }
};

template <class Mapping>
class RxBuffersOf : public testing::Test {};
using Mappings = testing::Types<Merged, Single>;
TYPED_TEST_SUITE(RxBuffersOf, Mappings);

TYPED_TEST(RxBuffersOf, are_cut_side_by_side_and_reached_by_the_device) {
  Rig<TypeParam> rig;
  std::set<std::uint64_t> places;
  for (const RxBuffer& buffer : rig.take(12)) {
    EXPECT_EQ(buffer.device.len, 256u);
    EXPECT_TRUE(places.insert(buffer.addr.value).second);
    EXPECT_EQ(buffer.addr.value % 256, kBase % 256);
    EXPECT_LT(buffer.addr.value - kBase, 3 * 1024u);
    const auto reached = rig.dma.guest({buffer.device.addr.value}, buffer.device.len, true);
    ASSERT_TRUE(reached.ok());
    EXPECT_EQ(reached.value(), buffer.addr);
  }
  EXPECT_EQ(rig.take_error(), RingError::kNoBuffer);
}

TYPED_TEST(RxBuffersOf, all_comes_back) {
  Rig<TypeParam> rig;
  for (const RxBuffer& buffer : rig.take(12)) rig.buffers.give_back(buffer.token);
  rig.buffers.retire();
  EXPECT_EQ(rig.dma.mapped(), 0u);
  EXPECT_EQ(rig.buffers.idle(), 3u);
  EXPECT_EQ(rig.buffers.state().at_device + rig.buffers.state().held, 0u);
}

TYPED_TEST(RxBuffersOf, memory_is_not_cut_anew_before_its_release) {
  Rig<TypeParam> rig;
  const auto taken = rig.take(12);
  for (const RxBuffer& buffer : taken)
    EXPECT_EQ(rig.buffers.detach(buffer.token, 100), buffer.addr);
  EXPECT_EQ(rig.take_error(), RingError::kNoBuffer);
  for (const RxBuffer& buffer : std::span(taken).first(3)) rig.buffers.release(buffer.token);
  EXPECT_EQ(rig.take_error(), RingError::kNoBuffer);
  rig.buffers.release(taken[3].token);
  EXPECT_EQ(rig.take().addr, taken[0].addr);
}

TYPED_TEST(RxBuffersOf, grow_with_the_packets_up_to_a_page) {
  Rig<TypeParam> rig;
  rig.buffers.record(300);
  EXPECT_EQ(rig.take().device.len, 320u);
  rig.buffers.record(64000);
  EXPECT_EQ(rig.take().device.len, 512u);
  EXPECT_EQ(rig.take().device.len, 512u);  // 192 bytes are left: the next fragment
  rig.buffers.record(0);
  EXPECT_GE(rig.take().device.len, 256u);
}

TYPED_TEST(RxBuffersOf, a_map_that_fails_costs_nothing) {
  Rig<TypeParam> rig;
  rig.dma.fail_after(0);
  EXPECT_EQ(rig.take_error(), RingError::kDmaMapping);
  EXPECT_EQ(rig.buffers.state().at_device, 0u);
  const auto taken = rig.take(12);
  EXPECT_EQ(rig.take_error(), RingError::kNoBuffer);
  for (const RxBuffer& buffer : taken) rig.buffers.give_back(buffer.token);
  rig.buffers.retire();
  EXPECT_EQ(rig.dma.mapped(), 0u);
  EXPECT_EQ(rig.buffers.idle(), 3u);
}

TEST(RxMapping, one_a_fragment_until_the_last_is_back_and_the_allocator_gone) {
  Rig<Merged> rig;
  const auto taken = rig.take(4);
  EXPECT_EQ(rig.dma.maps(), 1u);
  EXPECT_EQ(rig.dma.mapped_bytes(), 1024u);
  for (const RxBuffer& buffer : taken) rig.buffers.detach(buffer.token, 60);
  EXPECT_EQ(rig.dma.syncs(), 4u);
  EXPECT_EQ(rig.dma.mapped(), 1u);  // the allocator has not moved on
  const RxBuffer next = rig.take();
  EXPECT_EQ(rig.dma.unmaps(), 1u);
  EXPECT_EQ(rig.dma.mapped(), 1u);
  rig.take(4);  // and moves on again, with its buffers at the device
  EXPECT_EQ(rig.dma.mapped(), 2u);
  rig.buffers.detach(next.token, 0);
  EXPECT_EQ(rig.dma.syncs(), 4u);  // nothing written, nothing to be read
  EXPECT_EQ(rig.dma.mapped(), 2u);
}

TEST(RxMapping, a_sync_is_as_long_as_what_was_written) {
  struct Spy : CountingDma {
    DmaAddr last;
    std::uint32_t last_bytes = 0;
    void sync_for_cpu(DmaAddr dma, std::uint32_t len, DmaDirection) {
      last = dma;
      last_bytes = len;
    }
  } spy;
  RxBuffers<MapPerFragment<Spy>> buffers(spy, kSmall);
  (void)buffers.take();
  const RxBuffer second = buffers.take().value();
  buffers.detach(second.token, 77);
  EXPECT_EQ(spy.last.value, second.device.addr.value);
  EXPECT_EQ(spy.last_bytes, 77u);
}

TEST(RxMapping, one_a_buffer) {
  Rig<Single> rig;
  const auto taken = rig.take(4);
  EXPECT_EQ(rig.dma.maps(), 4u);
  EXPECT_EQ(rig.dma.mapped_bytes(), 4 * 256u);
  for (const RxBuffer& buffer : taken) rig.buffers.detach(buffer.token, 60);
  EXPECT_EQ(rig.dma.unmaps(), 4u);
  EXPECT_EQ(rig.dma.syncs(), 0u);
}

// What must be mapped: by the buffers at the device and the fragment that is cut.
template <class Mapping>
std::size_t expected_mappings(const std::map<RxToken, RxBuffer>& at_device, bool cutting,
                              std::uint32_t current) {
  if constexpr (std::is_same_v<Mapping, Single>) return at_device.size();
  std::set<std::uint64_t> fragments;
  if (cutting) fragments.insert(current);
  for (const auto& [token, buffer] : at_device)
    fragments.insert((buffer.addr.value - kBase) / kSmall.fragment_bytes);
  return fragments.size();
}

TYPED_TEST(RxBuffersOf, random_lives_against_a_reference) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 engine(seed);
    const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
    Rig<TypeParam> rig;
    std::map<RxToken, RxBuffer> at_device;
    std::map<RxToken, RxBuffer> held;
    const auto pick = [&](auto& from) {
      return std::next(from.begin(), static_cast<std::ptrdiff_t>(random() % from.size()));
    };
    for (int i = 0; i < 2000; ++i) {
      const unsigned what = random() % 8;
      if (random() % 16 == 0) rig.dma.fail_after(0);
      if (what < 3) {
        const auto buffer = rig.buffers.take();
        if (buffer.ok()) {
          for (const auto* live : {&at_device, &held})
            for (const auto& [token, other] : *live) {
              ASSERT_NE(token, buffer.value().token);
              ASSERT_TRUE(other.addr.value + other.device.len <= buffer.value().addr.value ||
                          buffer.value().addr.value + buffer.value().device.len <=
                              other.addr.value);
            }
          at_device[buffer.value().token] = buffer.value();
        }
      } else if (what < 5 && !at_device.empty()) {
        const auto at = pick(at_device);
        rig.buffers.detach(at->first, random() % (at->second.device.len + 1));
        held.insert(at_device.extract(at));
      } else if (what < 7 && !held.empty()) {
        const auto at = pick(held);
        rig.buffers.release(at->first);
        held.erase(at);
      } else {
        rig.buffers.record(random() % 600);
      }
      rig.dma.never_fail();
      const RxBuffersState& state = rig.buffers.state();
      ASSERT_EQ(state.at_device, at_device.size());
      ASSERT_EQ(state.held, held.size());
      ASSERT_EQ(rig.dma.mapped(), expected_mappings<TypeParam>(
                                      at_device, state.current != UINT32_MAX, state.current));
    }
    for (const auto& [token, buffer] : at_device) rig.buffers.give_back(token);
    for (const auto& [token, buffer] : held) rig.buffers.release(token);
    rig.buffers.retire();
    EXPECT_EQ(rig.dma.mapped(), 0u);
    EXPECT_EQ(rig.dma.mapped_bytes(), 0u);
    EXPECT_EQ(rig.buffers.idle(), 3u);
  }
}

}  // namespace
}  // namespace vringlab
