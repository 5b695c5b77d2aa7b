// The two rings of io_uring, by raw system calls: operations go in by number, results come out.
#pragma once

#include <linux/io_uring.h>

#include <cstddef>
#include <cstdint>

namespace vringlab {

class UringQueue {
 public:
  // Does the kernel give us a ring with all that a disk needs? A sandbox may forbid it.
  static bool available();

  // Room for `entries` operations that have not been submitted, and twice as many results. Throws
  // std::system_error where available() is false.
  explicit UringQueue(std::uint32_t entries);
  ~UringQueue();
  UringQueue(const UringQueue&) = delete;
  UringQueue& operator=(const UringQueue&) = delete;

  // Appends an operation; never more than there is room for.
  void push(const io_uring_sqe& operation);

  // Gives what was pushed to the kernel, and waits for `results` results. What the kernel does not
  // take for want of memory stays, for the next time.
  void enter(std::uint32_t results);

  // Takes a result out, if there is one.
  bool pop(io_uring_cqe& result);

 private:
  template <class T>
  T* at(std::uint32_t offset) const {
    return reinterpret_cast<T*>(rings_ + offset);
  }
  void map(const io_uring_params& params);
  void unmap();

  int fd_ = -1;
  std::byte* rings_ = nullptr;  // both, and what they share
  std::size_t rings_bytes_ = 0;
  io_uring_sqe* operations_ = nullptr;
  std::size_t operations_bytes_ = 0;
  std::uint32_t* submit_head_ = nullptr;  // the kernel's
  std::uint32_t* submit_tail_ = nullptr;
  std::uint32_t submit_mask_ = 0;
  std::uint32_t* result_head_ = nullptr;
  std::uint32_t* result_tail_ = nullptr;  // the kernel's
  std::uint32_t result_mask_ = 0;
  const io_uring_cqe* results_ = nullptr;
};

}  // namespace vringlab
