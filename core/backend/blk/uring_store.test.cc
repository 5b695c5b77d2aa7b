#include "core/backend/blk/uring_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <system_error>
#include <vector>

#include "core/memory/direct_access.h"
#include "tests/double/temp_file.h"

namespace vringlab {
namespace {

using test::TempFile;

static_assert(BlkStore<UringStore, DirectPayload>);
const GuestMemory kNoMemory({});
constexpr std::size_t kDiskBytes = 0x8000;

class UringStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!UringStore::available()) GTEST_SKIP() << "the kernel gives no io_uring";
    temp.write(std::vector<std::byte>(kDiskBytes, std::byte{7}));
  }

  Submitted submit(UringStore& store, const BlkIo& io) {
    DirectPayload payload(kNoMemory);
    BlkStatus status = BlkStatus::kUnsupp;
    return store.submit(payload, io, status);
  }
  // Waits for all that is pending. Statuses by slot.
  static std::map<std::uint16_t, BlkStatus> drain(UringStore& store) {
    std::map<std::uint16_t, BlkStatus> done;
    store.end_batch();
    while (store.pending() > 0) {
      store.wait();
      store.reap([&](std::uint16_t slot, BlkStatus status) { done[slot] = status; });
    }
    return done;
  }

  TempFile temp{kDiskBytes};
};

TEST_F(UringStoreTest, writes_and_reads_pieces) {
  UringStore store(temp.fd(), 4);
  std::vector<std::byte> source(1024, std::byte{3});
  const Piece out[] = {{source.data(), 300}, {source.data() + 300, 724}};
  EXPECT_EQ(
      submit(store,
             {.slot = 9, .op = BlkOp::kWrite, .offset_bytes = 1536, .bytes = 1024, .pieces = out}),
      Submitted::kPending);
  EXPECT_EQ(store.pending(), 1u);
  EXPECT_EQ(drain(store), (std::map<std::uint16_t, BlkStatus>{{9, BlkStatus::kOk}}));
  submit(store, {.slot = 2, .op = BlkOp::kFlush});
  EXPECT_EQ(drain(store), (std::map<std::uint16_t, BlkStatus>{{2, BlkStatus::kOk}}));
  const auto bytes = temp.read();
  EXPECT_EQ(bytes[1535], std::byte{7});
  EXPECT_TRUE(std::equal(source.begin(), source.end(), bytes.begin() + 1536));
  EXPECT_EQ(bytes[1536 + 1024], std::byte{7});
  std::vector<std::byte> target(1024);
  const Piece in[] = {{target.data(), 1}, {target.data() + 1, 1023}};
  submit(store, {.offset_bytes = 1536, .bytes = 1024, .pieces = in});
  drain(store);
  EXPECT_EQ(target, source);
}

TEST_F(UringStoreTest, what_was_discarded_reads_as_zeros) {
  UringStore store(temp.fd(), 4);
  const BlkRange ranges[] = {{512, 512, true}, {0, 0, false}, {4096, 0x2200, false}};
  submit(store, {.slot = 1, .op = BlkOp::kWriteZeroes, .ranges = ranges});
  const BlkRange range[] = {{0x7000, 0x1000, true}};
  submit(store, {.slot = 2, .op = BlkOp::kDiscard, .ranges = range});
  EXPECT_EQ(drain(store),
            (std::map<std::uint16_t, BlkStatus>{{1, BlkStatus::kOk}, {2, BlkStatus::kOk}}));
  const auto bytes = temp.read();
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const bool zeroed = (at >= 512 && at < 1024) || (at >= 4096 && at < 4096 + 0x2200) ||
                        (at >= 0x7000 && at < 0x8000);
    ASSERT_EQ(bytes[at], zeroed ? std::byte{0} : std::byte{7}) << at;
  }
}

TEST_F(UringStoreTest, is_busy_when_full_and_takes_more_later) {
  UringStore store(temp.fd(), 2);
  std::vector<std::byte> target(512 * 8);
  std::vector<Piece> pieces;
  for (int i = 0; i < 8; ++i) pieces.push_back({target.data() + 512 * i, 512});
  std::uint16_t next = 0;
  while (next < 8) {
    const BlkIo io{.slot = next,
                   .offset_bytes = 512u * next,
                   .bytes = 512,
                   .pieces = std::span(pieces).subspan(next, 1)};
    if (submit(store, io) == Submitted::kPending) {
      ++next;
      continue;
    }
    EXPECT_EQ(store.pending(), 2u);
    for (const auto& [slot, status] : drain(store)) EXPECT_EQ(status, BlkStatus::kOk) << slot;
  }
  drain(store);
  EXPECT_EQ(target, std::vector<std::byte>(512 * 8, std::byte{7}));
}

TEST_F(UringStoreTest, nothing_to_do_is_done_at_once) {
  UringStore store(temp.fd(), 1);
  DirectPayload payload(kNoMemory);
  BlkStatus status = BlkStatus::kUnsupp;
  EXPECT_EQ(store.submit(payload, {.op = BlkOp::kRead}, status), Submitted::kDone);
  EXPECT_EQ(status, BlkStatus::kOk);
  EXPECT_EQ(store.pending(), 0u);
  store.wait();  // for nothing
  EXPECT_EQ(store.reap([](std::uint16_t, BlkStatus) {}), 0u);
}

TEST_F(UringStoreTest, errors_of_the_file) {
  std::vector<std::byte> target(1024);
  const Piece in[] = {{target.data(), 1024}};
  UringStore store(temp.fd(), 4);
  submit(store, {.offset_bytes = kDiskBytes - 512, .bytes = 1024, .pieces = in});
  EXPECT_EQ(drain(store)[0], BlkStatus::kIoErr);  // it ends after a short read
  UringStore closed(-1, 4);
  submit(closed, {.slot = 1, .op = BlkOp::kFlush});
  EXPECT_EQ(drain(closed)[1], BlkStatus::kIoErr);
  submit(closed, {.slot = 2, .op = BlkOp::kWrite, .bytes = 1024, .pieces = in});
  EXPECT_EQ(drain(closed)[2], BlkStatus::kIoErr);
}

TEST_F(UringStoreTest, waits_for_what_is_pending_when_it_goes) {
  std::vector<std::byte> target(kDiskBytes);
  const Piece in[] = {{target.data(), kDiskBytes}};
  {
    UringStore store(temp.fd(), 4);
    submit(store, {.bytes = kDiskBytes, .pieces = in});
  }
  EXPECT_EQ(target, std::vector<std::byte>(kDiskBytes, std::byte{7}));
}

TEST(UringQueue, says_what_it_can_t_have) {
  EXPECT_THROW(UringQueue(0), std::system_error);
  EXPECT_THROW(UringQueue(UINT32_MAX), std::system_error);
}

}  // namespace
}  // namespace vringlab
