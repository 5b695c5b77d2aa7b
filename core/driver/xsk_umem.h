// The memory that an AF_XDP application shares with a driver: chunks of one size,
// mapped once, for both directions.
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/driver/dma.h"
#include "core/spec/net.h"
#include "core/spec/xsk.h"

namespace vringlab {

struct XskUmemConfig {
  GuestAddr base;                    // of the first chunk
  std::byte* host = nullptr;         // the same, as the driver sees it
  std::uint32_t chunks = 0;          // together less than 4 GiB
  std::uint32_t chunk_bytes = 4096;  // a power of two
  std::uint32_t headroom =
      kXdpPacketHeadroom;  // bytes of a chunk in front of a received frame; even
};

// An address here is an offset into the umem, as the application names it.
template <DmaApi Dma>
class XskUmem {
 public:
  XskUmem(Dma& dma, const XskUmemConfig& config) : dma_(&dma), config_(config) {
    assert(std::has_single_bit(config.chunk_bytes));
    assert(config.headroom >= sizeof(VirtioNetHdr) && config.headroom < config.chunk_bytes);
    assert(config.headroom % alignof(VirtioNetHdr) == 0);
    assert(std::uint64_t{config.chunks} * config.chunk_bytes <= UINT32_MAX);
  }

  RingError map() {
    assert(!mapped_);
    const Result<DmaAddr> mapped = dma_->map(config_.base, bytes(), kWay);
    if (mapped.ok()) mapped_ = mapped.value();
    return mapped.error();
  }
  // Nothing of it is in a virtqueue any more.
  void unmap() {
    if (!mapped_) return;
    dma_->unmap(*mapped_, bytes(), kWay);
    mapped_.reset();
  }

  // The chunk that `addr` lies in, or none. The application wrote it.
  std::optional<std::uint64_t> chunk_of(std::uint64_t addr) const {
    if (addr >= bytes()) return std::nullopt;
    return addr & ~std::uint64_t{config_.chunk_bytes - 1};
  }
  // A frame that the application asks to send lies whole in one chunk and has no
  // options: those known elsewhere change what the descriptor means.
  bool is_frame(const XdpDesc& desc) const {
    if (desc.options != 0 || desc.len == 0 || desc.addr >= bytes()) return false;
    return desc.len <= config_.chunk_bytes - offset_in_chunk(desc.addr);
  }

  std::uint32_t offset_in_chunk(std::uint64_t addr) const {
    return static_cast<std::uint32_t>(addr & (config_.chunk_bytes - 1));
  }
  DmaAddr device(std::uint64_t addr) const {
    assert(mapped_);
    return *mapped_ + addr;
  }
  std::byte* host(std::uint64_t addr) const { return config_.host + addr; }
  void sync_for_cpu(std::uint64_t addr, std::uint32_t len) {
    dma_->sync_for_cpu(device(addr), len, kWay);
  }
  void sync_for_device(std::uint64_t addr, std::uint32_t len) {
    dma_->sync_for_device(device(addr), len, kWay);
  }

  const XskUmemConfig& config() const { return config_; }
  Dma& dma() const { return *dma_; }

 private:
  static constexpr DmaDirection kWay = DmaDirection::kBidirectional;

  std::uint32_t bytes() const { return config_.chunks * config_.chunk_bytes; }

  Dma* dma_;
  XskUmemConfig config_;
  std::optional<DmaAddr> mapped_;  // where the device sees the first chunk
};

}  // namespace vringlab
