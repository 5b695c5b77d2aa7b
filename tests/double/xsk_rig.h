// An AF_XDP socket on one virtqueue, its application, and a device that reaches
// memory through the DMA api alone.
#pragma once

#include <cstring>
#include <vector>

#include "core/driver/driver_ring.h"
#include "core/driver/xsk_rx.h"
#include "core/driver/xsk_tx.h"
#include "core/memory/direct_access.h"
#include "tests/double/counting_dma.h"
#include "tests/double/raw_guest.h"
#include "tests/double/xsk_app.h"

namespace vringlab::test {

struct XskRig {
  using Ring = DriverRing<DirectDriverAccess, CountingDma>;
  static constexpr std::uint64_t kHeaderAddr = 0x3000;  // zeros
  static constexpr std::uint64_t kTables = 0x4000;
  static constexpr std::uint16_t kTableEntries = 2;
  static constexpr std::uint64_t kUmem = 0x10000;
  static constexpr std::uint32_t kChunk = 2048;
  static constexpr std::uint32_t kChunks = 16;
  static constexpr std::uint32_t kHeader = sizeof(VirtioNetHdr);

  CountingDma dma;
  RawGuest guest{{{0, 0x8000}, {kUmem, kChunk* kChunks}}};
  RawRing queue;
  Ring ring;
  XskUmem<CountingDma> umem{dma, {{kUmem}, &guest.byte(kUmem), kChunks, kChunk}};
  XskApp app;
  std::uint16_t next = 0;  // avail entry that the device takes

  explicit XskRig(std::uint32_t size, std::uint64_t features = 0, std::uint32_t app_size = 8)
      : queue(guest, size, features | feature(kFeatureAccessPlatform)),
        ring(DirectDriverAccess(queue.areas), queue.config,
             {{kTables}, reinterpret_cast<Desc*>(&guest.byte(kTables)), kTableEntries}, &dma),
        app(app_size) {
    if (ring.set_premapped() != RingError::kNone || umem.map() != RingError::kNone) std::abort();
  }

  XskTx<Ring, CountingDma> make_tx(XskHeader header) {
    return {ring, umem, app.tx.areas(), app.completion.areas(), {header, {kHeaderAddr}}};
  }
  XskRx<Ring, CountingDma> make_rx(std::uint32_t max_ring) {
    return {ring, umem, app.fill.areas(), app.rx.areas(), max_ring};
  }

  bool offered() const { return next != load_word(&queue.areas.avail[kRingIdxWord]); }
  std::uint16_t take_head() { return queue.avail(next++ & queue.areas.mask()); }

  // All bytes of a chain to transmit as the device sees them; none, if it may not read one.
  std::vector<std::byte> read_chain(std::uint16_t head) {
    std::vector<std::byte> bytes;
    std::vector<Desc> chain;
    Desc desc = queue.desc(head);
    if ((desc.flags & kDescIndirect) != 0) {
      const auto table = dma.guest({desc.addr}, desc.len, false);
      if (!table.ok()) return {};
      chain.resize(desc.len / sizeof(Desc));
      std::memcpy(chain.data(), &guest.byte(table.value().value), desc.len);
    } else {
      for (chain.push_back(desc); (desc.flags & kDescNext) != 0; chain.push_back(desc))
        desc = queue.desc(desc.next);
    }
    for (const Desc& each : chain) {
      const auto at = dma.guest({each.addr}, each.len, false);
      if (!at.ok()) return {};
      const std::byte* begin = &guest.byte(at.value().value);
      bytes.insert(bytes.end(), begin, begin + each.len);
    }
    return bytes;
  }

  // The device writes a frame of so many bytes that all are `value`.
  bool write_frame(std::uint32_t frame_bytes, std::byte value, std::uint16_t num_buffers = 1) {
    const std::uint16_t head = take_head();
    const Desc desc = queue.desc(head);
    const auto at = dma.guest({desc.addr}, desc.len, true);
    if (!at.ok() || kHeader + frame_bytes > desc.len) return false;
    VirtioNetHdr header;
    header.num_buffers = num_buffers;
    guest.write(at.value().value, header);
    std::memset(&guest.byte(at.value().value + kHeader), std::to_integer<int>(value), frame_bytes);
    queue.complete(head, kHeader + frame_bytes);
    return true;
  }
};

}  // namespace vringlab::test
