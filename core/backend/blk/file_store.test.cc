#include "core/backend/blk/file_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/memory/direct_access.h"
#include "tests/double/temp_file.h"

namespace vringlab {
namespace {

using test::TempFile;

static_assert(BlkStore<FileStore<PosixFile>, DirectPayload>);
const GuestMemory kNoMemory({});
constexpr std::size_t kDiskBytes = 0x8000;

struct Disk {
  TempFile temp;
  PosixFile file{temp.fd()};
  FileStore<PosixFile> store{file};
  DirectPayload payload{kNoMemory};

  explicit Disk(std::size_t bytes = kDiskBytes) : temp(bytes) {
    temp.write(std::vector<std::byte>(bytes, std::byte{7}));
  }
  BlkStatus submit(const BlkIo& io) {
    BlkStatus status = BlkStatus::kUnsupp;
    EXPECT_EQ(store.submit(payload, io, status), Submitted::kDone);
    store.end_batch();
    return status;
  }
};

TEST(FileStore, writes_and_reads_pieces) {
  Disk disk;
  std::vector<std::byte> source(1024);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = std::byte(i % 251);
  const Piece out[] = {{source.data(), 300}, {source.data() + 300, 724}};
  EXPECT_EQ(disk.submit({.op = BlkOp::kWrite, .offset_bytes = 1536, .bytes = 1024, .pieces = out}),
            BlkStatus::kOk);
  EXPECT_EQ(disk.submit({.op = BlkOp::kFlush}), BlkStatus::kOk);
  const auto bytes = disk.temp.read();
  EXPECT_EQ(bytes[1535], std::byte{7});
  EXPECT_TRUE(std::equal(source.begin(), source.end(), bytes.begin() + 1536));
  EXPECT_EQ(bytes[1536 + 1024], std::byte{7});
  std::vector<std::byte> target(1024);
  const Piece in[] = {{target.data(), 1}, {target.data() + 1, 1023}};
  EXPECT_EQ(disk.submit({.op = BlkOp::kRead, .offset_bytes = 1536, .bytes = 1024, .pieces = in}),
            BlkStatus::kOk);
  EXPECT_EQ(target, source);
}

TEST(FileStore, what_was_discarded_reads_as_zeros) {
  for (const BlkOp op : {BlkOp::kDiscard, BlkOp::kWriteZeroes}) {
    for (const bool unmap : {false, true}) {
      Disk disk;
      const BlkRange ranges[] = {{512, 512, unmap}, {4096, 0x2200, unmap}};
      EXPECT_EQ(disk.submit({.op = op, .ranges = ranges}), BlkStatus::kOk);
      const auto bytes = disk.temp.read();
      ASSERT_EQ(bytes.size(), kDiskBytes);
      for (std::size_t at = 0; at < bytes.size(); ++at) {
        const bool zeroed = (at >= 512 && at < 1024) || (at >= 4096 && at < 4096 + 0x2200);
        ASSERT_EQ(bytes[at], zeroed ? std::byte{0} : std::byte{7}) << at;
      }
    }
  }
}

TEST(FileStore, errors_of_the_file) {
  Disk disk(1024);
  std::vector<std::byte> target(1024);
  const Piece in[] = {{target.data(), 1024}};
  // The file is shorter than the disk was said to be.
  EXPECT_EQ(disk.submit({.op = BlkOp::kRead, .offset_bytes = 512, .bytes = 1024, .pieces = in}),
            BlkStatus::kIoErr);
  PosixFile closed(-1);
  FileStore<PosixFile> store(closed);
  for (const BlkOp op : {BlkOp::kRead, BlkOp::kWrite, BlkOp::kFlush}) {
    BlkStatus status = BlkStatus::kOk;
    store.submit(disk.payload, {.op = op, .bytes = 1024, .pieces = in}, status);
    EXPECT_EQ(status, BlkStatus::kIoErr);
  }
}

// Answers as it is told, and moves nothing.
struct ScriptedFile {
  std::vector<std::int64_t> answers;
  std::size_t asked = 0;
  std::int64_t execute(const FileOp&) { return answers[asked++]; }
};

TEST(FileStore, a_failed_sync_is_never_forgotten) {
  ScriptedFile file{{-EIO, 0, 512}};
  FileStore<ScriptedFile> store(file);
  DirectPayload payload(kNoMemory);
  std::vector<std::byte> bytes(512);
  const Piece pieces[] = {{bytes.data(), 512}};
  BlkStatus status = BlkStatus::kOk;
  for (int i = 0; i < 2; ++i) {
    store.submit(payload, {.op = BlkOp::kFlush}, status);
    EXPECT_EQ(status, BlkStatus::kIoErr);
  }
  store.submit(payload, {.op = BlkOp::kWrite, .bytes = 512, .pieces = pieces}, status);
  EXPECT_EQ(status, BlkStatus::kOk);
  EXPECT_EQ(file.asked, 3u);
}

}  // namespace
}  // namespace vringlab
