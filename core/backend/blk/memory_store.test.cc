#include "core/backend/blk/memory_store.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/memory/direct_access.h"

namespace vringlab {
namespace {

const GuestMemory kNoMemory({});
static_assert(BlkStore<MemoryStore, DirectPayload>);

struct Disk {
  std::vector<std::byte> bytes = std::vector<std::byte>(4096, std::byte{7});
  MemoryStore store{bytes};
  DirectPayload payload{kNoMemory};

  BlkStatus submit(const BlkIo& io) {
    BlkStatus status = BlkStatus::kIoErr;
    EXPECT_EQ(store.submit(payload, io, status), Submitted::kDone);
    store.end_batch();
    return status;
  }
};

TEST(MemoryStore, writes_and_reads_pieces) {
  Disk disk;
  std::vector<std::byte> source(512);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = std::byte(i % 256);
  const Piece out[] = {{source.data(), 300}, {source.data() + 300, 212}};
  EXPECT_EQ(disk.submit({.op = BlkOp::kWrite, .offset_bytes = 1024, .bytes = 512, .pieces = out}),
            BlkStatus::kOk);
  EXPECT_EQ(disk.bytes[1023], std::byte{7});
  EXPECT_EQ(disk.bytes[1024 + 301], std::byte(301 % 256));
  EXPECT_EQ(disk.bytes[1536], std::byte{7});
  std::vector<std::byte> target(512);
  const Piece in[] = {{target.data(), 1}, {target.data() + 1, 511}};
  disk.submit({.op = BlkOp::kRead, .offset_bytes = 1024, .bytes = 512, .pieces = in});
  EXPECT_EQ(target, source);
}

TEST(MemoryStore, zeroes_what_is_discarded_too) {
  for (const BlkOp op : {BlkOp::kDiscard, BlkOp::kWriteZeroes}) {
    Disk disk;
    const BlkRange ranges[] = {{512, 512, true}, {2048, 1024, true}, {0, 0, true}};
    EXPECT_EQ(disk.submit({.op = op, .ranges = ranges}), BlkStatus::kOk);
    for (std::size_t at = 0; at < disk.bytes.size(); ++at) {
      const bool zeroed = (at >= 512 && at < 1024) || (at >= 2048 && at < 3072);
      ASSERT_EQ(disk.bytes[at], zeroed ? std::byte{0} : std::byte{7}) << at;
    }
  }
}

TEST(MemoryStore, a_flush_changes_nothing) {
  Disk disk;
  EXPECT_EQ(disk.submit({.op = BlkOp::kFlush}), BlkStatus::kOk);
  EXPECT_EQ(disk.bytes, std::vector<std::byte>(4096, std::byte{7}));
}

}  // namespace
}  // namespace vringlab
