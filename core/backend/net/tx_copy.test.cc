#include "core/backend/net/tx_copy.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

#include "core/memory/direct_access.h"

namespace vringlab {
namespace {

// 128 bytes 0, 1, 2, ... cut into pieces of the given lengths.
struct Source {
  std::array<std::byte, 128> bytes;
  std::vector<Piece> pieces;

  explicit Source(std::initializer_list<std::uint32_t> lengths) {
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::byte(i);
    std::byte* at = bytes.data();
    for (const std::uint32_t len : lengths) {
      pieces.push_back({at, len});
      at += len;
    }
  }
};

const GuestMemory kNoMemory({});

// `bytes` gathered from `skip` on; one byte more in front and behind shows overruns.
std::vector<int> gathered(const Source& source, std::uint32_t bytes, std::uint32_t skip) {
  DirectPayload payload(kNoMemory);
  std::vector<std::byte> host(bytes + 2, std::byte{0xee});
  gather(payload, Transfer::kPayload, host.data() + 1, bytes, source.pieces, skip);
  EXPECT_EQ(host.front(), std::byte{0xee});
  EXPECT_EQ(host.back(), std::byte{0xee});
  std::vector<int> values;
  for (std::size_t i = 1; i <= bytes; ++i) values.push_back(std::to_integer<int>(host[i]));
  return values;
}

std::vector<int> counting(int first, std::size_t count) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST(Gather, joins_pieces) { EXPECT_EQ(gathered(Source{3, 5, 8}, 16, 0), counting(0, 16)); }

TEST(Gather, stops_inside_a_piece) { EXPECT_EQ(gathered(Source{3, 5, 8}, 6, 0), counting(0, 6)); }

TEST(Gather, skips_within_up_to_and_past_a_piece) {
  for (const std::uint32_t skip : {2u, 3u, 4u, 8u, 9u})
    EXPECT_EQ(gathered(Source{3, 5, 8}, 7, skip), counting(static_cast<int>(skip), 7)) << skip;
}

TEST(Gather, w19_empty_pieces) {
  EXPECT_EQ(gathered(Source{4, 0, 4}, 8, 0), counting(0, 8));
  EXPECT_EQ(gathered(Source{4, 0, 4}, 4, 4), counting(4, 4));
  EXPECT_EQ(gathered(Source{0, 8, 0}, 8, 0), counting(0, 8));
}

TEST(Gather, nothing) {
  EXPECT_TRUE(gathered(Source{4}, 0, 0).empty());
  EXPECT_TRUE(gathered(Source{}, 0, 0).empty());
}

// A chain over the source, a request of the given header, copied.
struct Copy {
  Source source;
  alignas(64) std::array<std::byte, 1024> memory;
  XdpBuffer buffer;

  Copy(std::initializer_list<std::uint32_t> lengths, std::uint32_t header, std::uint32_t frame)
      : source(lengths), buffer{memory.data(), xdp_frame_offset(false), frame} {
    memory.fill(std::byte{0xee});
    DirectPayload payload(kNoMemory);
    const auto count = static_cast<std::uint32_t>(source.pieces.size());
    const Chain chain{.room = source.pieces,
                      .readable_count = count,
                      .piece_count = count,
                      .readable_bytes = header + frame};
    copy_frame(payload, chain, {header, frame, 512}, buffer);
  }
};

TEST(CopyFrame, header_apart_from_frame) {
  const Copy copy({12, 60}, 12, 60);
  EXPECT_EQ(copy.buffer.meta().buffer_bytes, 512u);
  EXPECT_EQ(copy.buffer.meta().header.flags, 0);
  EXPECT_EQ(copy.buffer.meta().header.gso_type, 1);
  EXPECT_EQ(copy.buffer.meta().header.num_buffers, 0x0b0a);
  EXPECT_EQ(copy.buffer.frame()[0], std::byte{12});
  EXPECT_EQ(copy.buffer.frame()[59], std::byte{71});
  EXPECT_EQ(copy.buffer.frame()[60], std::byte{0xee});
}

TEST(CopyFrame, a_header_of_ten_bytes_has_no_num_buffers) {
  const Copy copy({70}, 10, 60);
  EXPECT_EQ(copy.buffer.meta().header.csum_offset, 0x0908);
  EXPECT_EQ(copy.buffer.meta().header.num_buffers, 0);
  EXPECT_EQ(copy.buffer.frame()[0], std::byte{10});
}

TEST(CopyFrame, a_longer_header_keeps_its_start) {
  const Copy copy({80}, 20, 60);
  EXPECT_EQ(copy.buffer.meta().header.num_buffers, 0x0b0a);
  EXPECT_EQ(copy.buffer.frame()[0], std::byte{20});
}

}  // namespace
}  // namespace vringlab
