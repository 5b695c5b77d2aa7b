#include "core/backend/net/tx_parse.h"

#include <gtest/gtest.h>

namespace vringlab {
namespace {

constexpr std::uint32_t kHeader = 12;

Result<TxRequest> parse(std::uint32_t readable, bool headroom = true, std::uint32_t writable = 0) {
  return parse_tx({.readable_bytes = readable, .writable_bytes = writable}, kHeader, headroom);
}

TEST(ParseTx, header_and_frame) {
  const auto request = parse(12 + 60);
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request.value().header_bytes, 12u);
  EXPECT_EQ(request.value().frame_bytes, 60u);
  EXPECT_EQ(request.value().buffer_bytes, xdp_buffer_bytes(60, true));
}

TEST(ParseTx, t02_shorter_than_a_header) {
  EXPECT_EQ(parse(0).error(), RingError::kHeaderTooShort);
  EXPECT_EQ(parse(11).error(), RingError::kHeaderTooShort);
  EXPECT_EQ(parse(12).error(), RingError::kFrameTooShort);
}

TEST(ParseTx, t05_frames_of_0_to_13_bytes) {
  for (std::uint32_t frame = 0; frame < 14; ++frame)
    EXPECT_EQ(parse(12 + frame).error(), RingError::kFrameTooShort) << frame;
  EXPECT_TRUE(parse(12 + 14).ok());
}

TEST(ParseTx, a_buffer_fits_its_page_or_the_frame_goes_alone) {
  const std::uint32_t longest = 4096 - 320 - 320;
  EXPECT_EQ(parse(12 + longest).value().buffer_bytes, 4096u);
  EXPECT_EQ(parse(12 + longest + 1).value().buffer_bytes, 0u);
  EXPECT_EQ(parse(12 + longest + 256, false).value().buffer_bytes, 4096u);
  EXPECT_EQ(parse(12 + longest + 257, false).value().buffer_bytes, 0u);
  EXPECT_TRUE(parse(12 + 65549).ok());
  EXPECT_EQ(parse(12 + 65550).error(), RingError::kFrameTooLong);
  EXPECT_EQ(parse(0xffffffff).error(), RingError::kFrameTooLong);
}

TEST(ParseTx, refuses_a_writable_part) {
  EXPECT_EQ(parse(72, true, 1).error(), RingError::kUnexpectedWritable);
}

}  // namespace
}  // namespace vringlab
