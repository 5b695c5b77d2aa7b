// A file behind a cache that loses power: what was not synced is lost or kept, sector by sector.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <random>
#include <vector>

#include "core/backend/blk/file_request.h"

namespace vringlab::test {

using Sector = std::array<std::byte, kSectorBytes>;

// Thrown out of the operation in which the power went.
struct PowerCut {};

class VolatileFile {
 public:
  static constexpr std::uint64_t kNever = UINT64_MAX;

  // Power goes in the operation with number `cut_at`, from 0. `seed` decides on interrupts, short
  // transfers and whether the file can make zeros.
  VolatileFile(std::vector<Sector> durable, std::uint64_t cut_at, std::uint64_t seed)
      : cut_at_(cut_at), makes_zeros_(seed % 2 == 0), random_(seed) {
    for (const Sector& sector : durable) versions_.push_back({sector});
  }

  std::uint64_t operations() const { return operations_; }

  std::int64_t execute(const FileOp& op) {
    const bool cut = operations_++ == cut_at_;
    if (!cut && random_() % 10 == 0) return -EINTR;
    if (cut && op.kind == FileOpKind::kSync) throw PowerCut{};
    const std::int64_t result = move(op);
    // It may have reached the medium, or parts of it; nobody was told.
    if (cut) throw PowerCut{};
    return result;
  }

  // What is there when power is back. Sectors reach the medium in any order, each one whole.
  std::vector<Sector> after_power_cut(std::uint64_t seed) const {
    std::mt19937_64 random(seed);
    std::vector<Sector> sectors;
    for (const auto& versions : versions_) sectors.push_back(versions[random() % versions.size()]);
    return sectors;
  }

 private:
  std::int64_t move(const FileOp& op) {
    switch (op.kind) {
      case FileOpKind::kRead:
        return transfer(op, [this](const iovec& part, std::uint64_t at) { read(part, at); });
      case FileOpKind::kWrite:
        return transfer(op, [this](const iovec& part, std::uint64_t at) { write(part, at); });
      case FileOpKind::kSync:
        for (auto& versions : versions_) versions = {versions.back()};
        return 0;
      case FileOpKind::kPunch:
      case FileOpKind::kZero:
        return zero(op);
    }
    return -EINVAL;
  }

  // Now and then only the first sectors of what was asked for.
  template <class Move>
  std::int64_t transfer(const FileOp& op, Move one) {
    std::uint64_t left = op.bytes;
    if (left > kSectorBytes && random_() % 4 == 0)
      left = kSectorBytes * (1 + random_() % (left / kSectorBytes));
    const auto moved = static_cast<std::int64_t>(left);
    open_.clear();
    std::uint64_t at = op.offset_bytes;
    for (iovec part : op.parts) {
      part.iov_len = std::min<std::uint64_t>(part.iov_len, left);
      one(part, at);
      at += part.iov_len;
      left -= part.iov_len;
    }
    return moved;
  }

  void read(const iovec& part, std::uint64_t at) {
    auto* host = static_cast<std::byte*>(part.iov_base);
    for (std::size_t i = 0; i < part.iov_len; ++i, ++at)
      host[i] = versions_[at / kSectorBytes].back()[at % kSectorBytes];
  }
  void write(const iovec& part, std::uint64_t at) {
    const auto* host = static_cast<const std::byte*>(part.iov_base);
    for (std::size_t i = 0; i < part.iov_len; ++i, ++at)
      newest(at / kSectorBytes)[at % kSectorBytes] = host[i];
  }
  std::int64_t zero(const FileOp& op) {
    if (!makes_zeros_) return -EOPNOTSUPP;
    open_.clear();
    for (std::uint64_t at = op.offset_bytes; at < op.offset_bytes + op.bytes; ++at)
      newest(at / kSectorBytes)[at % kSectorBytes] = std::byte{0};
    return 0;
  }

  // The version of a sector that this operation makes.
  Sector& newest(std::uint64_t sector) {
    auto& versions = versions_[sector];
    if (std::ranges::find(open_, sector) == open_.end()) {
      open_.push_back(sector);
      versions.push_back(Sector(versions.back()));
    }
    return versions.back();
  }

  std::uint64_t cut_at_;
  bool makes_zeros_;
  std::mt19937_64 random_;
  std::uint64_t operations_ = 0;
  std::vector<std::vector<Sector>> versions_;  // by sector: the durable one, then those since
  std::vector<std::uint64_t> open_;            // sectors that have a version of this operation
};
static_assert(FileOps<VolatileFile>);

}  // namespace vringlab::test
