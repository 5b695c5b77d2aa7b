// A disk that is a file, its requests done by io_uring while the loop goes on. Whoever owns the
// store reaps what has completed and tells the device.
#pragma once

#include <vector>

#include "core/backend/blk/file_request.h"
#include "core/backend/blk/uring_queue.h"

namespace vringlab {

class UringStore {
 public:
  // Where this is false a FileStore does the same, one request after another.
  static bool available() { return UringQueue::available(); }

  // `fd` is the caller's to close, afterwards. Takes `max_requests` at once.
  UringStore(int fd, std::uint32_t max_requests);
  // Waits for what is pending: the kernel has pieces of guest memory.
  ~UringStore();
  UringStore(const UringStore&) = delete;
  UringStore& operator=(const UringStore&) = delete;

  template <PayloadAccess P>
  Submitted submit(P&, const BlkIo& io, BlkStatus& status) {
    return submit(io, status);
  }
  void end_batch() { queue_.enter(0); }

  // Calls complete(slot, status) for each request that is done. Returns their number.
  template <class F>
  std::uint32_t reap(F complete) {
    std::uint32_t count = 0;
    for (Done done; next_done(done); ++count) complete(done.slot, done.status);
    end_batch();  // what goes on after a part of it was done
    return count;
  }

  // Blocks until an operation is done, if any is pending. A request may take several.
  void wait();

  std::uint32_t pending() const {
    return static_cast<std::uint32_t>(requests_.size() - idle_.size());
  }

 private:
  struct Request {
    FileRequest file;
    std::vector<iovec> parts = std::vector<iovec>(kFileParts);  // of the operation at hand
  };
  struct Done {
    std::uint16_t slot = 0;
    BlkStatus status = BlkStatus::kOk;
  };

  Submitted submit(const BlkIo& io, BlkStatus& status);
  bool next_done(Done& done);
  void push_operation(std::uint32_t index);

  int fd_;
  std::vector<Request> requests_;    // named by their index; one operation of each is pending
  std::vector<std::uint32_t> idle_;  // of them, those not in use
  FlushRecord flushes_;
  UringQueue queue_;  // last, so that it goes first
};

}  // namespace vringlab
