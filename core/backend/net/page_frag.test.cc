#include "core/backend/net/page_frag.h"

#include <gtest/gtest.h>

#include <set>

namespace vringlab {
namespace {

struct Pool {
  std::vector<std::byte> memory;
  PageFragPool pool;

  explicit Pool(std::size_t chunks, std::size_t rest = 0)
      : memory(chunks * kFragChunkBytes + rest), pool(memory) {}
  std::ptrdiff_t chunk_of(const std::byte* buffer) const {
    return (buffer - memory.data()) / kFragChunkBytes;
  }
};

TEST(PageFrag, cuts_from_the_end_of_a_chunk) {
  Pool p(1);
  const std::byte* first = p.pool.allocate(1024);
  const std::byte* second = p.pool.allocate(64);
  EXPECT_EQ(first, p.memory.data() + kFragChunkBytes - 1024);
  EXPECT_EQ(second, first - 64);
  EXPECT_EQ(p.pool.outstanding(), 2u);
}

TEST(PageFrag, uses_the_last_byte_and_no_more) {
  Pool p(1);
  EXPECT_NE(p.pool.allocate(kFragChunkBytes - 64), nullptr);
  EXPECT_EQ(p.pool.allocate(128), nullptr);
  EXPECT_EQ(p.pool.allocate(64), p.memory.data());
  EXPECT_EQ(p.pool.allocate(64), nullptr);
}

TEST(PageFrag, takes_the_next_chunk) {
  Pool p(2);
  const std::byte* first = p.pool.allocate(kFragChunkBytes);
  const std::byte* second = p.pool.allocate(64);
  EXPECT_NE(p.chunk_of(first), p.chunk_of(second));
  p.pool.release(first);
  p.pool.release(second);
  EXPECT_EQ(p.pool.outstanding(), 0u);
}

TEST(PageFrag, a_chunk_comes_back_when_its_last_buffer_does) {
  Pool p(2);
  const std::byte* a = p.pool.allocate(kFragChunkBytes / 2);
  const std::byte* b = p.pool.allocate(kFragChunkBytes / 2);
  const std::byte* c = p.pool.allocate(kFragChunkBytes);
  p.pool.release(a);
  EXPECT_EQ(p.pool.allocate(64), nullptr);
  p.pool.release(b);
  const std::byte* d = p.pool.allocate(64);
  ASSERT_NE(d, nullptr);
  EXPECT_EQ(p.chunk_of(d), p.chunk_of(a));
  EXPECT_NE(p.chunk_of(d), p.chunk_of(c));
}

TEST(PageFrag, the_current_chunk_is_cut_anew_when_all_came_back) {
  Pool p(1);
  for (int i = 0; i < 100; ++i) {
    const std::byte* buffer = p.pool.allocate(kFragChunkBytes);
    ASSERT_NE(buffer, nullptr) << i;
    EXPECT_EQ(p.pool.allocate(64), nullptr);
    p.pool.release(buffer);
  }
}

TEST(PageFrag, leaves_a_rest_alone) {
  Pool p(1, 100);
  EXPECT_EQ(p.pool.allocate(kFragChunkBytes), p.memory.data());
  EXPECT_EQ(p.pool.allocate(64), nullptr);
  Pool none(0, 100);
  EXPECT_EQ(none.pool.allocate(64), nullptr);
}

// Buffers never overlap, whatever order they come back in.
TEST(PageFrag, buffers_are_disjoint) {
  Pool p(4);
  std::set<const std::byte*> out;
  for (std::uint32_t round = 0; round < 1000; ++round) {
    const std::uint32_t bytes = 64 * (1 + round % 31);
    std::byte* buffer = p.pool.allocate(bytes);
    if (buffer != nullptr) {
      const auto next = out.lower_bound(buffer);
      ASSERT_TRUE(next == out.end() || buffer + bytes <= *next);
      out.insert(buffer);
    }
    if (buffer == nullptr || round % 3 == 0) {
      const auto victim = std::next(out.begin(), static_cast<std::ptrdiff_t>(round % out.size()));
      p.pool.release(*victim);
      out.erase(victim);
    }
    ASSERT_EQ(p.pool.outstanding(), out.size());
  }
}

}  // namespace
}  // namespace vringlab
