#include "core/backend/net/tx_header.h"

#include <gtest/gtest.h>

namespace vringlab {
namespace {

VirtioNetHdr checksum(std::uint16_t start, std::uint16_t offset, std::uint16_t hdr_len) {
  VirtioNetHdr header;
  header.flags = kNetHdrNeedsCsum;
  header.csum_start = start;
  header.csum_offset = offset;
  header.hdr_len = hdr_len;
  return header;
}

TEST(CheckTxHeader, leaves_a_header_that_asks_for_nothing) {
  VirtioNetHdr header;
  header.csum_start = 0xffff;  // means nothing without the flag
  EXPECT_EQ(check_tx_header(header, 60), RingError::kNone);
  EXPECT_EQ(header.hdr_len, 0);
}

TEST(CheckTxHeader, raises_the_header_length_to_the_end_of_the_checksum) {
  VirtioNetHdr header = checksum(34, 16, 14);
  EXPECT_EQ(check_tx_header(header, 60), RingError::kNone);
  EXPECT_EQ(header.hdr_len, 52);
  header = checksum(34, 16, 54);
  EXPECT_EQ(check_tx_header(header, 60), RingError::kNone);
  EXPECT_EQ(header.hdr_len, 54);
}

TEST(CheckTxHeader, t06_a_checksum_outside_the_frame) {
  VirtioNetHdr header = checksum(0xffff, 0, 14);
  EXPECT_EQ(check_tx_header(header, 60), RingError::kChecksumRange);
  header = checksum(0xffff, 0xffff, 14);  // the sum does not wrap
  EXPECT_EQ(check_tx_header(header, kMaxFrameBytes), RingError::kChecksumRange);
  header = checksum(44, 14, 0);  // the last two bytes
  EXPECT_EQ(check_tx_header(header, 60), RingError::kNone);
  header = checksum(44, 15, 0);
  EXPECT_EQ(check_tx_header(header, 60), RingError::kChecksumRange);
}

TEST(CheckTxHeader, t06_segments_of_no_bytes) {
  VirtioNetHdr header;
  header.gso_type = kNetHdrGsoTcp4;
  EXPECT_EQ(check_tx_header(header, 9000), RingError::kSegmentSize);
  header.gso_size = 1448;
  EXPECT_EQ(check_tx_header(header, 9000), RingError::kNone);
}

}  // namespace
}  // namespace vringlab
