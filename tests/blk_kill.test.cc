// A process that serves a real file and is killed at every operation: what it has answered is
// there, the request at hand is done sector by sector or not at all, nothing else has changed.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <csignal>

#include "core/backend/blk/file_store.h"
#include "tests/double/blk_trace.h"
#include "tests/double/temp_file.h"

namespace vringlab {
namespace {

using test::BlkAsk;
using test::BlkReference;
using test::BlkRig;
using test::BlkTraceMaker;
using test::kBlkTraceDisk;
using test::kBlkTraceSectors;
using test::TempFile;

constexpr std::size_t kDiskBytes = kBlkTraceSectors * kSectorBytes;

// Ends its process before or after the operation with number `at`.
struct DeadlyFile {
  PosixFile file;
  std::uint64_t at;
  bool after;
  std::uint64_t operations = 0;

  std::int64_t execute(const FileOp& op) {
    const bool now = operations++ == at;
    if (now && !after) raise(SIGKILL);
    const std::int64_t result = file.execute(op);
    if (now) raise(SIGKILL);
    return result;
  }
};

// A count that parent and child share.
class SharedCount {
 public:
  SharedCount() {
    void* memory = mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    value_ = new (memory) std::uint64_t(0);
  }
  ~SharedCount() { munmap(value_, sizeof(*value_)); }
  SharedCount(const SharedCount&) = delete;
  SharedCount& operator=(const SharedCount&) = delete;
  std::uint64_t& operator*() { return *value_; }

 private:
  std::uint64_t* value_;
};

std::vector<BlkAsk> any_requests(std::uint64_t seed) {
  std::vector<BlkAsk> asks;
  for (const auto& batch : BlkTraceMaker(seed).make(8))
    asks.insert(asks.end(), batch.begin(), batch.end());
  return asks;
}

// The child: one request after another, each counted once its used element is published.
void serve(const std::vector<BlkAsk>& asks, DeadlyFile file, std::uint64_t& answered) {
  FileStore<DeadlyFile> store(file);
  BlkRig<FileStore<DeadlyFile>> rig(store, {.disk = kBlkTraceDisk});
  for (const BlkAsk& ask : asks) {
    rig.offer(0, ask);
    rig.run();
    answered = rig.ring.used_idx();
  }
}

// True if the child was killed, false if it came to its end.
bool serve_in_a_child(const std::vector<BlkAsk>& asks, const DeadlyFile& file,
                      std::uint64_t& answered) {
  const pid_t child = fork();
  if (child == 0) {
    serve(asks, file, answered);
    _exit(0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
  return WIFSIGNALED(status);
}

// `at_hand`: the request that was being served, if one was.
void expect_left(const std::vector<std::byte>& left, BlkReference reference,
                 const BlkAsk* at_hand) {
  const std::vector<std::byte> before = reference.bytes;
  if (at_hand != nullptr) reference.apply(*at_hand);
  for (std::size_t s = 0; s < kBlkTraceSectors; ++s) {
    const auto same = [&](const std::vector<std::byte>& bytes) {
      return std::memcmp(&left[s * kSectorBytes], &bytes[s * kSectorBytes], kSectorBytes) == 0;
    };
    ASSERT_TRUE(same(before) || same(reference.bytes)) << "sector " << s;
  }
}

TEST(BlkKill, at_every_operation_of_a_real_file) {
  const std::vector<BlkAsk> asks = any_requests(3);
  bool killed = true;
  std::uint64_t kills = 0;
  for (std::uint64_t at = 0; killed && !testing::Test::HasFailure(); ++at) {
    for (const bool after : {false, true}) {
      SCOPED_TRACE(testing::Message() << "at " << at << (after ? ", after" : ", before"));
      const TempFile temp(kDiskBytes);
      SharedCount answered;
      killed = serve_in_a_child(asks, {PosixFile(temp.fd()), at, after}, *answered);
      BlkReference reference;
      for (std::size_t i = 0; i < *answered; ++i) reference.apply(asks[i]);
      EXPECT_EQ(*answered == asks.size(), !killed);
      expect_left(temp.read(), reference, killed ? &asks[*answered] : nullptr);
      kills += killed ? 1 : 0;
    }
  }
  EXPECT_GT(kills, 40u);
}

}  // namespace
}  // namespace vringlab
