// The bytes of a simulated disk; none where a run is about time alone.
#pragma once

#include <cassert>

#include "core/backend/blk/memory_store.h"
#include "core/memory/direct_access.h"

namespace vringlab::sim {

class BlkBytes {
 public:
  // `bytes`: the whole disk, or nothing.
  explicit BlkBytes(std::span<std::byte> bytes) : present_(!bytes.empty()), store_(bytes) {}

  // Does to the data what `io` asks for; its time is charged elsewhere.
  void execute(const BlkIo& io) {
    if (!present_) return;
    BlkStatus status = BlkStatus::kOk;
    store_.submit(payload_, io, status);
  }
  std::span<const std::byte> bytes() const { return store_.bytes(); }

 private:
  // Copies only: pieces have been translated.
  struct Copies {
    Result<std::size_t> translate(GuestAddr, std::uint32_t, std::span<Piece>) {
      return RingError::kAddressOutsideMemory;
    }
    void copy_in(Transfer, std::byte* host, const std::byte* source, std::uint32_t len) {
      std::copy_n(source, len, host);
    }
    void copy_out(Transfer, std::byte* host, const std::byte* source, std::uint32_t len) {
      std::copy_n(source, len, host);
    }
    void begin_copies() {}
    void end_copies() {}
  };

  bool present_;
  MemoryStore store_;
  Copies payload_;
};

}  // namespace vringlab::sim
