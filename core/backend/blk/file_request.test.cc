#include "core/backend/blk/file_request.h"

#include <gtest/gtest.h>

#include <vector>

namespace vringlab {
namespace {

// What a request asked of its file, and what it got.
struct Asked {
  FileOpKind kind;
  std::uint64_t offset_bytes;
  std::uint64_t bytes;
  bool operator==(const Asked&) const = default;
};

// Plays a file that answers from a list, then everything that is asked for.
struct Play {
  std::vector<Asked> asked;
  std::vector<std::size_t> parts;
  BlkStatus status = BlkStatus::kOk;

  Play(const BlkIo& io, std::vector<std::int64_t> answers) {
    FileRequest request;
    std::vector<iovec> room(kFileParts);
    request.start(io);
    for (std::size_t i = 0; !request.done(); ++i) {
      const FileOp op = request.next(room);
      asked.push_back({op.kind, op.offset_bytes, op.bytes});
      parts.push_back(op.parts.size());
      std::uint64_t sum = 0;
      for (const iovec& part : op.parts) sum += part.iov_len;
      if (!op.parts.empty()) {
        EXPECT_EQ(sum, op.bytes);
      }
      request.result(i < answers.size() ? answers[i] : static_cast<std::int64_t>(sum));
      if (i > 5000) return;
    }
    status = request.status();
  }
};

using List = std::vector<Asked>;
constexpr auto kRead = FileOpKind::kRead;
constexpr auto kWrite = FileOpKind::kWrite;
constexpr auto kSync = FileOpKind::kSync;
constexpr auto kPunch = FileOpKind::kPunch;
constexpr auto kZero = FileOpKind::kZero;

std::byte memory[0x8000];
std::vector<Piece> pieces(const std::vector<std::uint32_t>& lengths) {
  std::vector<Piece> list;
  std::byte* at = memory;
  for (const std::uint32_t len : lengths) {
    list.push_back({at, len});
    at += len;
  }
  return list;
}

TEST(FileRequest, one_operation_a_transfer) {
  const auto list = pieces({300, 212});
  const Play play({.op = BlkOp::kWrite, .offset_bytes = 4096, .bytes = 512, .pieces = list}, {});
  EXPECT_EQ(play.asked, (List{{kWrite, 4096, 512}}));
  EXPECT_EQ(play.parts, std::vector<std::size_t>{2});
  EXPECT_EQ(play.status, BlkStatus::kOk);
}

TEST(FileRequest, goes_on_after_short_transfers_and_interrupts) {
  const auto list = pieces({300, 724});
  const BlkIo io{.op = BlkOp::kRead, .offset_bytes = 512, .bytes = 1024, .pieces = list};
  const Play play(io, {-EINTR, 100, -EINTR, 200, 1});
  EXPECT_EQ(play.asked, (List{{kRead, 512, 1024},
                              {kRead, 512, 1024},
                              {kRead, 612, 924},
                              {kRead, 612, 924},
                              {kRead, 812, 724},
                              {kRead, 813, 723}}));
  EXPECT_EQ(play.parts, (std::vector<std::size_t>{2, 2, 2, 2, 1, 1}));
  EXPECT_EQ(play.status, BlkStatus::kOk);
}

TEST(FileRequest, an_error_ends_it) {
  const auto list = pieces({1024});
  const BlkIo io{.op = BlkOp::kWrite, .bytes = 1024, .pieces = list};
  for (const int error : {EIO, ENOSPC, EOPNOTSUPP}) {
    const Play play(io, {512, -error});
    EXPECT_EQ(play.status, BlkStatus::kIoErr);
    EXPECT_EQ(play.asked.size(), 2u);
  }
  EXPECT_EQ(Play(io, {0}).status, BlkStatus::kIoErr);  // the end of the file
  EXPECT_EQ(Play({.op = BlkOp::kFlush}, {-EIO}).status, BlkStatus::kIoErr);
}

TEST(FileRequest, a_flush_is_one_sync) {
  const Play play({.op = BlkOp::kFlush}, {-EINTR, 0});
  EXPECT_EQ(play.asked, (List{{kSync, 0, 0}, {kSync, 0, 0}}));
  EXPECT_EQ(play.status, BlkStatus::kOk);
}

TEST(FileRequest, nothing_to_do) {
  EXPECT_TRUE(Play({.op = BlkOp::kRead, .offset_bytes = 512}, {}).asked.empty());
  const BlkRange empty[] = {{512, 0, true}, {0, 0, false}};
  const Play play({.op = BlkOp::kDiscard, .ranges = empty}, {});
  EXPECT_TRUE(play.asked.empty());
  EXPECT_EQ(play.status, BlkStatus::kOk);
}

TEST(FileRequest, one_operation_a_range) {
  const BlkRange ranges[] = {{512, 1024, true}, {0, 0, true}, {4096, 512, false}};
  const Play play({.op = BlkOp::kWriteZeroes, .ranges = ranges}, {0, -EINTR, 0});
  EXPECT_EQ(play.asked, (List{{kPunch, 512, 1024}, {kZero, 4096, 512}, {kZero, 4096, 512}}));
  EXPECT_EQ(play.status, BlkStatus::kOk);
}

// 1024 parts of 64 KiB are the most that one operation writes.
TEST(FileRequest, writes_zeros_where_the_file_makes_none) {
  const std::uint64_t most = kFileParts * 0x10000;
  const BlkRange ranges[] = {{512, most + 1024, true}, {0, 512, false}};
  const Play play({.op = BlkOp::kDiscard, .ranges = ranges}, {-EOPNOTSUPP, 4096});
  EXPECT_EQ(play.asked, (List{{kPunch, 512, most + 1024},
                              {kWrite, 512, most},
                              {kWrite, 512 + 4096, most - 3072},
                              {kWrite, 0, 512}}));
  EXPECT_EQ(play.status, BlkStatus::kOk);
  const BlkRange one[] = {{512, 512, false}};
  EXPECT_EQ(Play({.op = BlkOp::kWriteZeroes, .ranges = one}, {-ENOSYS}).asked,
            (List{{kZero, 512, 512}, {kWrite, 512, 512}}));
  EXPECT_EQ(Play({.op = BlkOp::kWriteZeroes, .ranges = one}, {-EIO}).status, BlkStatus::kIoErr);
  EXPECT_EQ(Play({.op = BlkOp::kWriteZeroes, .ranges = one}, {-ENOSYS, -ENOSPC}).status,
            BlkStatus::kIoErr);
}

// A request in more parts than the kernel takes at once: each operation but the last ends with a
// sector, so that a power cut between two tears none.
TEST(FileRequest, operations_end_with_a_sector) {
  for (const std::uint32_t len : {1u, 3u, 7u}) {
    std::vector<std::uint32_t> lengths(4096, len);
    lengths.front() += 100;  // so that 1024 parts end inside a sector
    lengths.back() += 412;
    const auto list = pieces(lengths);
    const std::uint64_t bytes = std::uint64_t{4096} * len + 512;
    const Play play({.op = BlkOp::kWrite, .bytes = bytes, .pieces = list}, {});
    EXPECT_GT(play.asked.size(), 1u);
    std::uint64_t at = 0;
    for (const Asked& op : play.asked) {
      EXPECT_EQ(op.offset_bytes, at);
      EXPECT_EQ(op.bytes % 512, 0u);
      at += op.bytes;
    }
    EXPECT_EQ(at, bytes);
    EXPECT_EQ(play.status, BlkStatus::kOk);
  }
}

TEST(FlushRecord, a_failed_sync_is_never_forgotten) {
  FlushRecord flushes;
  EXPECT_EQ(flushes.record(BlkOp::kFlush, BlkStatus::kOk), BlkStatus::kOk);
  EXPECT_EQ(flushes.record(BlkOp::kWrite, BlkStatus::kIoErr), BlkStatus::kIoErr);
  EXPECT_EQ(flushes.record(BlkOp::kFlush, BlkStatus::kOk), BlkStatus::kOk);
  EXPECT_EQ(flushes.record(BlkOp::kFlush, BlkStatus::kIoErr), BlkStatus::kIoErr);
  EXPECT_EQ(flushes.record(BlkOp::kFlush, BlkStatus::kOk), BlkStatus::kIoErr);
  EXPECT_EQ(flushes.record(BlkOp::kRead, BlkStatus::kOk), BlkStatus::kOk);
}

}  // namespace
}  // namespace vringlab
