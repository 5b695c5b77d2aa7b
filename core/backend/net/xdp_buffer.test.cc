#include "core/backend/net/xdp_buffer.h"

#include <gtest/gtest.h>

namespace vringlab {
namespace {

TEST(XdpBuffer, is_padding_headroom_frame_and_shared_info) {
  EXPECT_EQ(xdp_frame_offset(false), 64u);
  EXPECT_EQ(xdp_frame_offset(true), 320u);
  EXPECT_EQ(xdp_buffer_bytes(60, true), 384u + 320u);
  EXPECT_EQ(xdp_buffer_bytes(64, true), 384u + 320u);
  EXPECT_EQ(xdp_buffer_bytes(65, true), 448u + 320u);
  EXPECT_EQ(xdp_buffer_bytes(60, false), 128u + 320u);
}

TEST(XdpBuffer, is_whole_cache_lines_and_holds_its_frame) {
  for (std::uint32_t frame = 0; frame <= kXdpBufferMaxBytes; ++frame) {
    const std::uint32_t bytes = xdp_buffer_bytes(frame, true);
    ASSERT_EQ(bytes % kCacheLineBytes, 0u);
    ASSERT_GE(bytes, xdp_frame_offset(true) + frame + kSharedInfoBytes);
    ASSERT_LT(bytes, xdp_frame_offset(true) + frame + kSharedInfoBytes + kCacheLineBytes);
  }
}

TEST(XdpBuffer, metadata_and_frame_do_not_overlap) {
  alignas(64) std::byte memory[1024] = {};
  const XdpBuffer buffer{memory, xdp_frame_offset(false), 60};
  buffer.meta() = {.buffer_bytes = 7, .header = {.num_buffers = 9}};
  buffer.frame()[0] = std::byte{0xff};
  EXPECT_EQ(buffer.meta().buffer_bytes, 7u);
  EXPECT_EQ(buffer.meta().header.num_buffers, 9);
  EXPECT_EQ(buffer.frame() - memory, 64);
}

}  // namespace
}  // namespace vringlab
