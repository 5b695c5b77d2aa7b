#include "core/backend/net/rx_copy.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

#include "core/memory/direct_access.h"

namespace vringlab {
namespace {

const GuestMemory kNoMemory({});
constexpr std::byte kUntouched{0xee};

// Guest memory cut into pieces of the given lengths, each an allocation of its own.
struct Target {
  std::vector<std::vector<std::byte>> blocks;
  std::vector<Piece> pieces;

  explicit Target(const std::vector<std::uint32_t>& lengths) {
    for (const std::uint32_t len : lengths) blocks.emplace_back(len, kUntouched);
    for (std::vector<std::byte>& block : blocks)
      pieces.push_back({block.data(), static_cast<std::uint32_t>(block.size())});
  }
  std::vector<std::byte> joined() const {
    std::vector<std::byte> all;
    for (const std::vector<std::byte>& block : blocks)
      all.insert(all.end(), block.begin(), block.end());
    return all;
  }
};

std::vector<std::byte> counting(std::size_t count) {
  std::vector<std::byte> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = std::byte(i);
  return values;
}

// 0, 1, 2, ... scattered from `skip` on; the rest must stay as it was.
void expect_scattered(const std::vector<std::uint32_t>& lengths, std::uint32_t bytes,
                      std::uint32_t skip) {
  Target target(lengths);
  DirectPayload payload(kNoMemory);
  const auto source = counting(bytes);
  scatter(payload, Transfer::kPayload, target.pieces, skip, source.data(), bytes);
  std::vector<std::byte> expected(target.joined().size(), kUntouched);
  std::copy(source.begin(), source.end(), expected.begin() + skip);
  EXPECT_EQ(target.joined(), expected) << bytes << " at " << skip;
}

TEST(Scatter, fills_pieces) { expect_scattered({3, 5, 8}, 16, 0); }

TEST(Scatter, any_stretch_of_any_pieces) {
  for (std::uint32_t skip = 0; skip <= 16; ++skip)
    for (std::uint32_t bytes = 0; bytes + skip <= 16; ++bytes)
      expect_scattered({3, 5, 8}, bytes, skip);
}

TEST(Scatter, w19_empty_pieces) {
  expect_scattered({4, 0, 4}, 8, 0);
  expect_scattered({4, 0, 4}, 4, 4);
  expect_scattered({0, 8, 0}, 8, 0);
}

TEST(Scatter, nothing) {
  expect_scattered({4}, 0, 0);
  expect_scattered({}, 0, 0);
}

// A header of 1, 2, ... and a frame of 0, 1, 2, ... in pieces of the given lengths.
std::vector<std::byte> copied(const std::vector<std::uint32_t>& lengths, std::uint32_t header_bytes,
                              std::uint16_t num_buffers, std::uint32_t frame_bytes = 60,
                              bool mergeable = false) {
  Target target(lengths);
  DirectPayload payload(kNoMemory);
  const auto frame = counting(frame_bytes);
  const VirtioNetHdr header{1, 2, 0x0403, 0x0605, 0x0807, 0x0a09, 0xeeee};
  copy_packet(payload, target.pieces, {frame.data(), frame_bytes, header}, header_bytes,
              num_buffers, mergeable);
  return target.joined();
}

std::vector<std::byte> expected(std::uint32_t header_bytes, std::uint16_t num_buffers) {
  std::vector<std::byte> bytes(10);
  for (std::size_t i = 0; i < 10; ++i) bytes[i] = std::byte(i + 1);
  bytes.push_back(std::byte(num_buffers & 0xff));
  bytes.push_back(std::byte(num_buffers >> 8));
  bytes.resize(header_bytes);
  const auto frame = counting(60);
  bytes.insert(bytes.end(), frame.begin(), frame.end());
  return bytes;
}

TEST(CopyPacket, t02_in_all_layouts) {
  for (const std::vector<std::uint32_t>& lengths : {std::vector<std::uint32_t>{12, 60},
                                                    {72},
                                                    {6, 66},
                                                    {12 + 7, 53},
                                                    std::vector<std::uint32_t>(72, 1)})
    for (const bool mergeable : {false, true})
      EXPECT_EQ(copied(lengths, 12, 0x0c0b, 60, mergeable), expected(12, 0x0c0b));
}

TEST(CopyPacket, a_header_of_ten_bytes_has_no_num_buffers) {
  EXPECT_EQ(copied({70}, 10, 0x0c0b), expected(10, 0));
  EXPECT_EQ(copied({70}, 10, 0x0c0b, 60, true), expected(10, 0));
}

TEST(CopyPacket, leaves_the_rest_of_the_buffer) {
  auto bytes = expected(12, 1);
  bytes.push_back(kUntouched);
  EXPECT_EQ(copied({20, 53}, 12, 1), bytes);
}

TEST(CopyPacket, an_empty_frame_is_its_header) {
  auto bytes = expected(12, 1);
  bytes.resize(12);
  EXPECT_EQ(copied({12}, 12, 1, 0), bytes);
}

}  // namespace
}  // namespace vringlab
