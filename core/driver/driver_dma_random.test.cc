// Random lives of a ring with a DMA api against a model: what is mapped, how many
// bytes of it, and how many descriptors are free follow from the chains that are
// out, after every step, whatever failed meanwhile.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>

#include "tests/double/resizable_queue.h"

namespace vringlab {
namespace {

using test::kEventIdx;
using test::kIndirect;
using test::kPlatform;
using test::kRingReset;
using test::ResizableQueue;
using test::TwoRings;

struct Kind {
  const char* name;
  std::uint64_t features;
  bool premapped;
};

// What a chain that is out stands for.
struct Out {
  std::size_t mappings = 0;
  std::uint64_t mapped_bytes = 0;
  int descriptors = 0;
  std::uint32_t capacity = 0;
};

class Life {
 public:
  Life(const Kind& kind, unsigned seed)
      : kind_(kind), random_(seed), queue_(8, kind.features | kPlatform | kRingReset) {
    for (std::uint32_t i = 0; i < buffers_.size(); ++i) buffers_[i] = {{0x100u * i}, 10 * i + 1};
    if (kind.premapped) {
      EXPECT_EQ(queue_.driver.set_premapped(), RingError::kNone);
    }
  }

  void step() {
    if (pick(8) == 0) queue_.dma.fail_after(static_cast<int>(pick(6)), pick(2) == 0);
    act();
    queue_.dma.never_fail();
  }
  void check() const {
    Out sum;
    for (const auto& [token, out] : out_) {
      sum.mappings += out.mappings;
      sum.mapped_bytes += out.mapped_bytes;
      sum.descriptors += out.descriptors;
    }
    ASSERT_EQ(queue_.dma.fault(), "");
    ASSERT_EQ(queue_.dma.mapped(), sum.mappings);
    ASSERT_EQ(queue_.dma.mapped_bytes(), sum.mapped_bytes);
    ASSERT_EQ(queue_.driver.state().free_count, queue_.driver.state().size - sum.descriptors);
    ASSERT_EQ(queue_.driver.state().in_flight, out_.size());
    ASSERT_EQ(queue_.memory.taken(), 1);
  }
  void end() {
    reset();
    EXPECT_TRUE(out_.empty());
    EXPECT_EQ(queue_.dma.maps(), queue_.dma.unmaps());
  }

  std::uint64_t added = 0, refused = 0, reaped = 0, detached = 0, resized = 0, unresized = 0;

 private:
  std::uint32_t pick(std::uint32_t below) { return static_cast<std::uint32_t>(random_()) % below; }

  void act() {
    switch (pick(32)) {
      case 0:
        return reset();
      case 1:
        return resize();
      case 2:
        return detach();
      case 3:
      case 4:
      case 5:
      case 6:
      case 7:
      case 8:
        return publish();
      default:
        return pick(2) == 0 ? add() : complete();
    }
  }

  void add() {
    const std::size_t count = 1 + pick(6);
    const std::size_t readable = pick(static_cast<std::uint32_t>(count) + 1);
    const std::span chain = std::span(buffers_).first(count);
    const auto head =
        queue_.driver.add(chain.first(readable), chain.subspan(readable), next_token_);
    if (!head.ok()) {
      ++refused;
      return;
    }
    ++added;
    out_[next_token_++] = expected(chain, readable);
  }
  Out expected(std::span<const Buffer> chain, std::size_t readable) const {
    const bool table = (kind_.features & kIndirect) != 0 && chain.size() > 1 &&
                       chain.size() <= TwoRings::kTableEntries;
    Out out{.descriptors = table ? 1 : static_cast<int>(chain.size())};
    for (std::size_t i = 0; i < chain.size(); ++i) {
      if (!kind_.premapped) {
        ++out.mappings;
        out.mapped_bytes += chain[i].len;
      }
      if (i >= readable) out.capacity += chain[i].len;
    }
    out.mappings += table;
    out.mapped_bytes += table ? chain.size() * sizeof(Desc) : 0;
    return out;
  }

  void publish() {
    queue_.driver.publish();
    queue_.device.fetch();
  }
  void complete() {
    if (queue_.device.held() == 0) return;
    queue_.device.complete(pick(1000), 0);
    const auto done = queue_.driver.reap();
    ASSERT_TRUE(done);
    back(done->token);
    ++reaped;
  }
  void back(Token token) { EXPECT_EQ(out_.erase(token), 1u); }
  auto recycle() {
    return [this](Token token) {
      back(token);
      ++detached;
    };
  }

  // With the device stopped; it starts again after.
  void detach() {
    ASSERT_TRUE(queue_.device.reset_queue());
    for (int i = 0; i < 2; ++i)
      while (const auto token = queue_.driver.detach_unused()) recycle()(*token);
    queue_.driver.reset();
    queue_.device.enable_queue(queue_.driver.config());
  }
  void reset() {
    queue_.device.refuses = pick(4) == 0 && !out_.empty() && added % 2 == 0;
    const RingError error = reset_queue(queue_.driver, queue_.device, recycle());
    if (queue_.device.refuses) {
      EXPECT_EQ(error, RingError::kResetRefused);
      queue_.device.refuses = false;
      EXPECT_EQ(reset_queue(queue_.driver, queue_.device, recycle()), RingError::kNone);
    }
    enable_queue(queue_.driver, queue_.device);
  }
  void resize() {
    constexpr std::array kSizes = {4u, 8u, 64u, 256u, 100u};
    const std::uint32_t size = kSizes[pick(kSizes.size())];
    queue_.memory.fails = pick(3) == 0;
    const std::size_t before = out_.size();
    const RingError error =
        resize_queue(queue_.driver, queue_.device, queue_.memory, size, recycle());
    queue_.memory.fails = false;
    if (error == RingError::kNone) {
      EXPECT_EQ(queue_.driver.state().size, size);
      ++resized;
    } else {
      EXPECT_EQ(out_.size(), before);
      ++unresized;
    }
    EXPECT_EQ(queue_.driver.state().premapped, kind_.premapped);
  }

  Kind kind_;
  std::mt19937 random_;
  ResizableQueue queue_;
  std::array<Buffer, 6> buffers_;
  std::map<Token, Out> out_;
  Token next_token_ = 1;
};

class DriverDmaRandom : public testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, DriverDmaRandom,
                         testing::Values(Kind{"direct", 0, false},
                                         Kind{"indirect", kIndirect | kEventIdx, false},
                                         Kind{"premapped", kEventIdx, true},
                                         Kind{"premapped_indirect", kIndirect, true}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(DriverDmaRandom, everything_returns_to_its_start) {
  std::uint64_t resized = 0, unresized = 0, refused = 0, reaped = 0, detached = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Life life(GetParam(), seed);
    for (int i = 0; i < 2000; ++i) {
      life.step();
      life.check();
      if (testing::Test::HasFailure()) return;
    }
    life.end();
    resized += life.resized, unresized += life.unresized, refused += life.refused;
    reaped += life.reaped, detached += life.detached;
  }
  // All that was to be tried was tried.
  EXPECT_GT(std::min({resized, unresized, refused, reaped, detached}), 100u);
}

}  // namespace
}  // namespace vringlab
