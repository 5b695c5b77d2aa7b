// What an application asks of a disk: jobs, each a stream of I/Os of one size, in order
// or at random, some of them writes, so many at once. No notion of time.
#pragma once

#include <cstdint>
#include <vector>

#include "core/backend/blk/store.h"
#include "sim/cost/random.h"

namespace vringlab::sim {

struct BlkJobConfig {
  std::uint64_t ios = 0;          // to make, flushes not counted
  std::uint64_t block_bytes = 0;  // of an I/O
  std::uint64_t first_byte = 0;   // of the part of the disk that the job uses
  std::uint64_t blocks = 1;       // in that part
  bool random = false;
  double read_share = 1;          // of the I/Os; at random if between 0 and 1
  std::uint64_t flush_every = 0;  // a flush after so many writes; 0: never
  std::uint64_t reread_from =
      0;  // I/Os from this one on read again what the first ones wrote; 0: none
  std::uint64_t seed = 0;
};

struct BlkIoPlan {
  BlkOp op = BlkOp::kRead;
  std::uint64_t offset = 0;  // bytes, as the guest means it
  std::uint64_t bytes = 0;
};

class BlkJob {
 public:
  explicit BlkJob(const BlkJobConfig& config) : config_(config) {}

  bool exhausted() const { return made_ == config_.ios && !flush_due_; }

  // The next I/O; there is one.
  BlkIoPlan next() {
    if (flush_due_) {
      flush_due_ = false;
      return {.op = BlkOp::kFlush};
    }
    const std::uint64_t n = made_++;
    const BlkIoPlan plan{direction(n), config_.first_byte + block(n) * config_.block_bytes,
                         config_.block_bytes};
    if (plan.op == BlkOp::kWrite && config_.flush_every > 0)
      flush_due_ = ++writes_ % config_.flush_every == 0;
    return plan;
  }

 private:
  BlkOp direction(std::uint64_t n) {
    if (config_.reread_from > 0) return n < config_.reread_from ? BlkOp::kWrite : BlkOp::kRead;
    if (config_.read_share >= 1) return BlkOp::kRead;
    return choices_.unit() <= config_.read_share ? BlkOp::kRead : BlkOp::kWrite;
  }
  std::uint64_t block(std::uint64_t n) {
    if (config_.reread_from > 0) n %= config_.reread_from;
    if (!config_.random) return n % config_.blocks;
    if (n == 0) places_ = RandomStream(config_.seed);  // the same places again
    return places_.next() % config_.blocks;
  }

  BlkJobConfig config_;
  RandomStream places_{0};
  RandomStream choices_{config_.seed ^ 0x5deece66d};
  std::uint64_t made_ = 0;
  std::uint64_t writes_ = 0;
  bool flush_due_ = false;
};

}  // namespace vringlab::sim
