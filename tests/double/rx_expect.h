// What a receive queue left behind, for GoogleTest.
#pragma once

#include <gtest/gtest.h>

#include "tests/double/rx_rig.h"

namespace vringlab::test {

// A packet of `bytes`, header in front, lies at `addr`.
inline void expect_packet(RxRig& rig, std::uint64_t addr, std::size_t bytes,
                          std::uint16_t num_buffers, unsigned first = 1) {
  const VirtioNetHdr header = rig.header_at(addr);
  EXPECT_EQ(header.flags, kNetHdrNeedsCsum);
  EXPECT_EQ(header.hdr_len, 54);
  EXPECT_EQ(header.csum_start, 34);
  EXPECT_EQ(header.num_buffers, num_buffers);
  EXPECT_EQ(rig.bytes_at(addr + sizeof(VirtioNetHdr), bytes), pattern(bytes, first));
}

inline void expect_used(RxRig& rig, const std::vector<UsedElem>& expected) {
  ASSERT_EQ(rig.ring.used_idx(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(rig.ring.used(i), expected[i]) << i;
}

}  // namespace vringlab::test
