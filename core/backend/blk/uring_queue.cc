#include "core/backend/blk/uring_queue.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <system_error>

namespace vringlab {
namespace {

// FAST_POLL came with Linux 5.7: both rings in one map (5.4) and fallocate (5.6) are there too.
constexpr std::uint32_t kNeededFeatures = IORING_FEAT_SINGLE_MMAP | IORING_FEAT_FAST_POLL;

int set_up(std::uint32_t entries, io_uring_params& params) {
  params = {};
  return static_cast<int>(syscall(SYS_io_uring_setup, entries, &params));
}

[[noreturn]] void fail(int error, const char* what) {
  throw std::system_error(error, std::generic_category(), what);
}

// Pair with the kernel's: release of a tail makes the entries before it visible.
std::uint32_t load(const std::uint32_t* word) {
  return std::atomic_ref<std::uint32_t>(*const_cast<std::uint32_t*>(word))
      .load(std::memory_order_acquire);
}
void store(std::uint32_t* word, std::uint32_t value) {
  std::atomic_ref<std::uint32_t>(*word).store(value, std::memory_order_release);
}

std::byte* map_shared(int fd, std::size_t bytes, off_t what) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, what);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

}  // namespace

bool UringQueue::available() {
  io_uring_params params;
  const int fd = set_up(1, params);
  if (fd < 0) return false;
  close(fd);
  return (params.features & kNeededFeatures) == kNeededFeatures;
}

UringQueue::UringQueue(std::uint32_t entries) {
  io_uring_params params;
  fd_ = set_up(entries, params);
  if (fd_ < 0) fail(errno, "io_uring_setup");
  if ((params.features & kNeededFeatures) == kNeededFeatures) map(params);
  if (rings_ != nullptr && operations_ != nullptr) return;
  unmap();
  fail(ENOSYS, "io_uring: the rings can't be mapped");
}

UringQueue::~UringQueue() { unmap(); }

void UringQueue::map(const io_uring_params& params) {
  const std::size_t submit_bytes = params.sq_off.array + params.sq_entries * sizeof(std::uint32_t);
  const std::size_t result_bytes = params.cq_off.cqes + params.cq_entries * sizeof(io_uring_cqe);
  rings_bytes_ = std::max(submit_bytes, result_bytes);
  rings_ = map_shared(fd_, rings_bytes_, IORING_OFF_SQ_RING);
  operations_bytes_ = params.sq_entries * sizeof(io_uring_sqe);
  operations_ = reinterpret_cast<io_uring_sqe*>(
      map_shared(fd_, operations_bytes_, static_cast<off_t>(IORING_OFF_SQES)));
  if (rings_ == nullptr) return;
  submit_head_ = at<std::uint32_t>(params.sq_off.head);
  submit_tail_ = at<std::uint32_t>(params.sq_off.tail);
  submit_mask_ = params.sq_entries - 1;
  result_head_ = at<std::uint32_t>(params.cq_off.head);
  result_tail_ = at<std::uint32_t>(params.cq_off.tail);
  result_mask_ = params.cq_entries - 1;
  results_ = at<io_uring_cqe>(params.cq_off.cqes);
  // The kernel looks operations up through an array; here each entry names itself, for good.
  auto* array = at<std::uint32_t>(params.sq_off.array);
  for (std::uint32_t i = 0; i < params.sq_entries; ++i) array[i] = i;
}

void UringQueue::unmap() {
  if (rings_ != nullptr) munmap(rings_, rings_bytes_);
  if (operations_ != nullptr) munmap(operations_, operations_bytes_);
  close(fd_);
}

void UringQueue::push(const io_uring_sqe& operation) {
  const std::uint32_t tail = *submit_tail_;
  assert(tail - load(submit_head_) <= submit_mask_);
  operations_[tail & submit_mask_] = operation;
  store(submit_tail_, tail + 1);
}

void UringQueue::enter(std::uint32_t results) {
  const std::uint32_t flags = results > 0 ? IORING_ENTER_GETEVENTS : 0;
  for (;;) {
    const std::uint32_t pushed = *submit_tail_ - load(submit_head_);
    if (pushed == 0 && results == 0) return;
    if (syscall(SYS_io_uring_enter, fd_, pushed, results, flags, nullptr, 0) >= 0) return;
    assert(errno == EINTR || errno == EAGAIN || errno == EBUSY);
    if (errno != EINTR) return;
  }
}

bool UringQueue::pop(io_uring_cqe& result) {
  const std::uint32_t head = *result_head_;
  if (head == load(result_tail_)) return false;
  result = results_[head & result_mask_];
  store(result_head_, head + 1);
  return true;
}

}  // namespace vringlab
