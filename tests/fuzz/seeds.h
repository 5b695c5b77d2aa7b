// The fuzzers' seeds: the hostile inputs in the fuzzers' own language.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/fuzz/blk_request.h"
#include "tests/fuzz/chain_walk.h"
#include "tests/fuzz/driver_dma.h"
#include "tests/fuzz/driver_used.h"
#include "tests/fuzz/net_rx.h"
#include "tests/fuzz/net_tx_zerocopy.h"

namespace vringlab::test {

using Seed = std::vector<std::uint8_t>;
using Seeds = std::map<std::string, Seed>;  // by name

// Writes an input; the mirror of Input.
class Output {
 public:
  explicit Output(std::uint8_t config) : bytes_{config} {}

  Output& u8(std::size_t value) {
    bytes_.push_back(static_cast<std::uint8_t>(value));
    return *this;
  }
  Output& u16(std::size_t value) { return u8(value).u8(value >> 8); }
  Output& u32(std::size_t value) { return u16(value).u16(value >> 16); }
  Output& op(WalkOp op) { return u8(static_cast<std::uint8_t>(op)); }
  Output& op(RxOp op) { return u8(static_cast<std::uint8_t>(op)); }
  Output& op(UsedOp op) { return u8(static_cast<std::uint8_t>(op)); }
  Output& op(ZeroCopyOp op) { return u8(static_cast<std::uint8_t>(op)); }
  Output& op(BlkFuzzOp op) { return u8(static_cast<std::uint8_t>(op)); }
  Output& op(DmaOp op) { return u8(static_cast<std::uint8_t>(op)); }

  Output& packet(std::uint8_t head, std::uint32_t bytes = 72) {
    op(WalkOp::kDesc).u8(head).u32(0x4000).u32(bytes).u8(0).u8(0);
    return op(WalkOp::kOffer).u8(head);
  }
  Output& steps(int count) {
    for (; count > 0; --count) op(WalkOp::kStep);
    return *this;
  }
  Output& buffer(std::uint8_t head, std::uint32_t bytes, unsigned flags = kDescWrite) {
    op(RxOp::kDesc).u8(head).u32(0x4000u + 0x800u * head).u32(bytes).u8(flags).u8(0);
    return op(RxOp::kOffer).u8(head);
  }
  Output& packets(std::size_t count, std::size_t bytes) {
    return op(RxOp::kPackets).u8(count).u16(bytes);
  }
  Output& add(std::size_t readable, std::size_t writable = 0) {
    return op(UsedOp::kAdd).u8(readable | writable << 4).op(UsedOp::kPublish);
  }
  Output& complete(std::size_t n, std::uint32_t len = 0) {
    return op(UsedOp::kComplete).u8(n).u32(len).op(UsedOp::kReap);
  }
  Output& avail_idx(std::size_t idx) { return op(WalkOp::kAvailIdx).u16(idx); }
  Output& restart(std::size_t base) { return op(WalkOp::kRestart).u16(base); }
  Output& sink(bool refuses) { return op(WalkOp::kSink).u8(refuses); }
  Output& completed(std::size_t which) { return op(ZeroCopyOp::kComplete).u8(which); }
  Output& ask(std::size_t head, std::size_t type, std::size_t sector, std::size_t length) {
    return op(BlkFuzzOp::kAsk).u8(head).u8(type).u8(sector).u8(length);
  }
  Output& store(CheckedStore::Mode mode) {
    return op(BlkFuzzOp::kStore).u8(static_cast<std::uint8_t>(mode));
  }
  Output& disk(std::size_t bits) { return op(BlkFuzzOp::kRestart).u16(0).u8(bits); }
  Output& step(std::size_t how) { return op(DmaOp::kStep).u8(how); }
  Output& used(std::size_t n, std::size_t len) { return op(DmaOp::kComplete).u8(n).u32(len); }
  Output& offer(std::size_t chunk, std::size_t len) { return op(DmaOp::kOffer).u8(chunk).u16(len); }
  Output& used_idx(std::size_t idx) { return op(UsedOp::kUsedIdx).u16(idx); }
  const Seed& bytes() const { return bytes_; }

 private:
  Seed bytes_;
};

// All that is not zero in guest memory, as writes of up to 255 bytes.
inline void write_memory(const RawGuest& guest, Output& out) {
  constexpr std::size_t kGap = 5;  // as many zeros as a write of its own takes
  for (const Region& region : guest.memory().regions()) {
    const auto is_zero = [](std::byte value) { return value == std::byte{0}; };
    for (std::size_t at = 0; at < region.bytes.size();) {
      if (is_zero(region.bytes[at])) {
        ++at;
        continue;
      }
      std::size_t end = at + 1;
      for (std::size_t i = end; i < region.bytes.size() && i < end + kGap && i < at + 255; ++i)
        if (!is_zero(region.bytes[i])) end = i + 1;
      const std::uint64_t addr = region.base.value + at;
      out.op(WalkOp::kWrite).u16(addr).u8(addr >> 16).u8(end - at);
      for (; at < end; ++at) out.u8(std::to_integer<std::uint8_t>(region.bytes[at]));
    }
  }
}

// Each row of the table of chains, then a good packet.
inline Seeds chain_walk_seeds() {
  Seeds seeds;
  for (const HostileChain& row : hostile_chains()) {
    RawGuest guest(regions_of(row.layout));
    RawRing ring(guest, kHostileRingSize, row.features);
    row.build(guest, ring);
    Output out(GuestConfig::encode(row.features, row.layout));
    write_memory(guest, out);
    out.op(WalkOp::kOffer).u8(0).steps(2).packet(1).steps(2).op(WalkOp::kArm);
    seeds[row.name] = out.bytes();
  }
  for (const unsigned head : {8u, 0xffu})
    seeds["w04_head_" + std::to_string(head)] =
        Output(0).op(WalkOp::kOffer).u8(head).steps(2).op(WalkOp::kArm).bytes();
  for (const unsigned idx : {9u, 0x8000u, 65535u})
    seeds["i01_avail_" + std::to_string(idx)] =
        Output(0).avail_idx(idx).steps(2).op(WalkOp::kArm).bytes();
  Output full(0x40);  // a ring of four
  full.packet(0).packet(1).packet(2).packet(3).steps(4).packet(0).steps(2);
  seeds["i03_more_than_n"] = full.bytes();
  seeds["i04_same_head_twice"] = Output(0).packet(1).packet(1).steps(3).bytes();
  Output wrap(1);
  wrap.avail_idx(65535).restart(65535).packet(0).packet(1).packet(2).steps(4).op(WalkOp::kArm);
  seeds["i05_from_65535"] = wrap.bytes();
  Output refused(4);  // copies batched
  refused.sink(true).packet(0).packet(1).packet(2, 11).packet(3).packet(4).steps(5);
  seeds["t07_failed_send"] = refused.sink(false).packet(5).steps(2).bytes();
  Output reset(4);
  reset.packet(0).packet(1).steps(2).avail_idx(0).restart(0).packet(0).steps(2);
  seeds["d05_reset_with_a_batch"] = reset.bytes();
  return seeds;
}

inline constexpr std::uint8_t kMergeableBit = 4;

// Each row of the table of chains, made writable, then a good buffer.
inline Seeds net_rx_chains() {
  Seeds seeds;
  for (const HostileChain& row : hostile_chains()) {
    RawGuest guest(regions_of(row.layout));
    RawRing ring(guest, kHostileRingSize, row.features);
    row.build(guest, ring);
    make_writable(guest, ring);
    Output out(GuestConfig::encode(row.features, row.layout) | kMergeableBit);
    write_memory(guest, out);
    out.packets(2, 60).op(RxOp::kOffer).u8(0).steps(2).buffer(1, 1500).steps(3);
    seeds[row.name] = out.op(RxOp::kArm).bytes();
  }
  return seeds;
}

// Tables whose descriptors add up to more than the ring has, full or nearly empty.
inline Seed net_rx_tables(std::uint32_t len) {
  RawGuest guest(regions_of(Layout::kOne));
  RawRing ring(guest, kHostileRingSize, kIndirect);
  put_writable_tables(guest, ring, len, 16);
  Output out(GuestConfig::encode(kIndirect, Layout::kOne) | kMergeableBit);
  write_memory(guest, out);
  out.packets(1, 80).packets(1, 4).packets(1, 60);
  for (std::size_t head = 0; head < kHostileRingSize; ++head) out.op(RxOp::kOffer).u8(head);
  return out.steps(4).bytes();
}

inline Seeds net_rx_seeds() {
  Seeds seeds = net_rx_chains();
  seeds["w08_tables_of_two_bytes_each"] = net_rx_tables(2);
  seeds["w08_tables_of_empty_descriptors"] = net_rx_tables(0);
  Output plain(0);
  plain.packets(2, 1500).buffer(0, 1511).buffer(1, 1512).steps(3);
  seeds["t03_plain_too_large"] = plain.bytes();
  Output small(kMergeableBit);
  small.packets(7, 60).buffer(0, 1).buffer(1, 1).buffer(2, 11).buffer(3, 12).buffer(4, 1);
  seeds["t01_small_buffers"] = small.buffer(5, 200).steps(8).bytes();
  Output second(kMergeableBit);
  second.packets(1, 4000).buffer(0, 1500).buffer(1, 1500, 0).buffer(2, 1500).steps(2);
  seeds["t08_second_is_readable"] = second.buffer(3, 1500).buffer(4, 1500).steps(2).bytes();
  Output few(kMergeableBit | 1);
  few.packets(2, 4000).buffer(0, 1500).buffer(1, 1500).steps(1).op(RxOp::kArm).buffer(2, 1500);
  seeds["t09_too_few_then_enough"] = few.op(RxOp::kArm).steps(3).bytes();
  seeds["i04_same_head_twice"] =
      Output(kMergeableBit).packets(1, 4000).buffer(1, 1500).buffer(1, 1500).steps(3).bytes();
  Output wrap(kMergeableBit | 1);
  wrap.op(RxOp::kAvailIdx).u16(65535).op(RxOp::kRestart).u16(65535).packets(2, 2000);
  wrap.buffer(0, 1500).buffer(1, 1500).buffer(2, 1500).buffer(3, 1500).steps(3);
  seeds["i05_from_65535"] = wrap.bytes();
  Output reset(kMergeableBit);
  reset.packets(7, 60).buffer(0, 1500).buffer(1, 1500).steps(1).op(RxOp::kAvailIdx).u16(0);
  reset.op(RxOp::kRestart).u16(0).buffer(0, 1500).steps(3).op(RxOp::kFinish);
  seeds["d05_reset_with_packets"] = reset.bytes();
  return seeds;
}

// Each row of the table of chains behind a frame that is lent, then a good packet.
inline Seeds net_tx_zerocopy_seeds() {
  Seeds seeds;
  for (const HostileChain& row : hostile_chains()) {
    RawGuest guest(regions_of(row.layout));
    RawRing ring(guest, kHostileRingSize, row.features);
    row.build(guest, ring);
    Output out(GuestConfig::encode(row.features, row.layout));
    out.packet(6, 200).steps(1);
    write_memory(guest, out);
    out.op(WalkOp::kOffer).u8(0).steps(2).completed(1).packet(1).steps(2).completed(0).steps(2);
    seeds[row.name] = out.op(WalkOp::kArm).bytes();
  }
  Output order(4);  // used elements in batches
  order.packet(3).packet(1).packet(2).packet(0).steps(3).completed(1).steps(2).completed(0);
  seeds["z01_out_of_order"] = order.steps(2).bytes();
  Output retried(0);
  retried.packet(0).steps(1).op(ZeroCopyOp::kSink).u8(1).packet(1).packet(2, 30).steps(2);
  retried.op(ZeroCopyOp::kSink).u8(2).steps(1).op(ZeroCopyOp::kSink).u8(0).steps(2);
  seeds["z02_rolled_back"] = retried.completed(0x80).steps(2).bytes();
  Output self(1);
  seeds["z03_completed_before_it_returns"] =
      self.op(ZeroCopyOp::kSink).u8(4).packet(0).packet(1).steps(3).bytes();
  Output broken(0);
  broken.packet(0).packet(0).steps(2).completed(0).op(WalkOp::kArm).steps(1);
  seeds["i04_same_head_twice"] = broken.bytes();
  Output reset(0);
  reset.packet(0).packet(1).steps(2).avail_idx(65535).restart(65535).packet(1).steps(2);
  seeds["d05_reset_with_frames_lent"] = reset.packet(2).steps(1).bytes();
  return seeds;
}

// Types of a request by their place in the fuzzer's table.
inline constexpr std::size_t kAskIn = 0, kAskOut = 1, kAskFlush = 2, kAskId = 3, kAskDiscard = 4,
                             kAskZeroes = 5, kAskUnknown = 7;

// Each row of the table of chains, as it is and with all of it writable, then a good request.
inline Seeds blk_chains() {
  Seeds seeds;
  for (const HostileChain& row : hostile_chains()) {
    for (const bool writable : {false, true}) {
      RawGuest guest(regions_of(row.layout));
      RawRing ring(guest, kHostileRingSize, row.features);
      row.build(guest, ring);
      if (writable) make_writable(guest, ring);
      Output out(GuestConfig::encode(row.features, row.layout));
      write_memory(guest, out);
      out.op(WalkOp::kOffer).u8(0).steps(2).ask(1, kAskIn, 3, 2).steps(2).op(WalkOp::kArm);
      seeds[std::string(row.name) + (writable ? "_writable" : "")] = out.bytes();
    }
  }
  return seeds;
}

inline Seeds blk_request_seeds() {
  using enum CheckedStore::Mode;
  Seeds seeds = blk_chains();
  Output all(0);
  for (const std::size_t type : {kAskOut, kAskIn, kAskFlush, kAskDiscard, kAskZeroes, kAskId})
    all.ask(0, type, 2, 4 + 2).steps(1);
  seeds["b0_one_of_each"] = all.bytes();
  seeds["b1_past_the_capacity"] =
      Output(0).ask(0, kAskOut, 15, 4).ask(4, kAskIn, 15, 2).steps(3).bytes();
  seeds["b2_sector_wraps"] =
      Output(0).ask(0, kAskOut, 64, 2).ask(4, kAskIn, 73, 2).steps(3).bytes();
  seeds["b3_no_whole_sectors"] =
      Output(0).ask(0, kAskOut, 0, 3).ask(4, kAskIn, 0, 0x81).steps(3).bytes();
  Output no_status(0);
  no_status.ask(0, kAskIn, 0, 0).op(WalkOp::kDesc).u8(2).u32(0x3800).u32(0).u8(kDescWrite).u8(0);
  seeds["b4_no_status"] = no_status.steps(2).bytes();
  seeds["b7_read_only"] =
      Output(0).disk(1).ask(0, kAskOut, 0, 2).ask(4, kAskDiscard, 0, 5).steps(3).bytes();
  seeds["b8_identity"] = Output(0).ask(0, kAskId, 0, 0x8a).ask(4, kAskId, 0, 0x9e).steps(3).bytes();
  seeds["b9_unknown_type"] =
      Output(0).disk(14).ask(0, kAskUnknown, 0, 2).ask(4, kAskFlush, 0, 0).steps(3).bytes();
  Output order(4);  // used elements in batches
  order.store(kLater).ask(0, kAskOut, 0, 2).steps(1).ask(3, kAskIn, 1, 2).steps(1);
  order.op(BlkFuzzOp::kComplete).u8(1).op(WalkOp::kArm).steps(1).op(BlkFuzzOp::kComplete).u8(0);
  seeds["b10_out_of_order"] = order.op(BlkFuzzOp::kFlush).bytes();
  Output busy(1);
  busy.store(kBusy).ask(0, kAskDiscard, 0, 6).steps(2).store(kLater).steps(2).op(WalkOp::kArm);
  seeds["b11_put_back"] = busy.op(BlkFuzzOp::kComplete).u8(0).steps(2).bytes();
  Output full(0);
  full.store(kLater).ask(0, kAskIn, 0, 2).steps(1).ask(1, kAskFlush, 0, 0).steps(1);
  full.ask(2, kAskIn, 0, 2).steps(1).ask(3, kAskIn, 0, 2).steps(2).op(WalkOp::kArm);
  seeds["b12_too_many_in_flight"] = full.op(BlkFuzzOp::kComplete).u8(1).steps(2).bytes();
  seeds["b13_completed_before_it_returns"] =
      Output(4).store(kBeforeItReturns).ask(0, kAskIn, 0, 2).ask(4, kAskOut, 0, 2).steps(3).bytes();
  seeds["d05_reset_with_requests_pending"] = Output(0)
                                                 .store(kLater)
                                                 .ask(0, kAskIn, 0, 2)
                                                 .steps(1)
                                                 .disk(16)
                                                 .ask(0, kAskOut, 3, 2)
                                                 .steps(2)
                                                 .bytes();
  seeds["i04_same_head_twice"] =
      Output(0).store(kLater).ask(0, kAskIn, 0, 2).ask(0, kAskIn, 0, 2).steps(3).bytes();
  return seeds;
}

inline Seeds driver_used_seeds() {
  Seeds seeds;
  Output order(0);
  order.add(1).add(2).add(3).complete(2).complete(0).complete(0);
  seeds["i06_out_of_order"] = order.bytes();
  seeds["i07_length_is_capacity"] = Output(2).add(1, 2).complete(0, 3).bytes();
  seeds["i08_length_is_capacity_plus_1"] = Output(2).add(1, 2).complete(0, 4).complete(0).bytes();
  for (const unsigned id : {1u, 7u, 8u, 0x10000u}) {
    Output out(0);
    out.add(2).op(UsedOp::kElement).u8(0).u32(id).u32(0).used_idx(1);
    seeds["i08_id_" + std::to_string(id)] =
        out.op(UsedOp::kReap).op(UsedOp::kReap).op(UsedOp::kEnable).bytes();
  }
  for (const unsigned idx : {2u, 0x8000u, 65535u}) {
    Output out(1);
    out.add(1).used_idx(idx).op(UsedOp::kReap).op(UsedOp::kReap).op(UsedOp::kDelay);
    seeds["i08_used_" + std::to_string(idx)] = out.bytes();
  }
  Output reset(3);
  reset.add(2).complete(0).op(UsedOp::kDisable).add(1, 1).op(UsedOp::kReset).add(1).complete(0);
  seeds["d05_reset"] = reset.bytes();
  Output detach(0);
  detach.add(2).add(1).op(UsedOp::kDetach).op(UsedOp::kDetach).add(3).op(UsedOp::kDetach);
  seeds["d06_detach_twice"] = detach.bytes();
  return seeds;
}

inline Seeds driver_dma_seeds() {
  using enum DriverDma::User;
  const auto of = [](DriverDma::User user, std::uint64_t features = 0, bool headroom = false) {
    return Output(DriverDma::encode(user, features, headroom));
  };
  constexpr std::size_t kReap = 255;
  Seeds seeds;
  seeds["d01_premapped_table"] =
      of(kPremapped, kIndirect).step(0x21).used(0, 3).step(kReap).step(0x11).bytes();
  Output resize = of(kChains, kIndirect);
  for (const std::size_t how : {4u, 3u, 0x84u, 0u, 5u})
    resize.step(0x12).step(0x06).step(0x01).used(1, 0).step(kReap).op(DmaOp::kResize).u8(how);
  seeds["d02_resize_in_a_loop"] = resize.bytes();
  for (const std::uint64_t features : {std::uint64_t{0}, kIndirect}) {
    Output fail = of(kChains, features);
    fail.op(DmaOp::kFail).u8(2).step(0x23).step(0x23).op(DmaOp::kFail).u8(4).step(0x22);
    seeds[features == 0 ? "d03_third_map" : "d03_third_map_and_table"] =
        fail.op(DmaOp::kHeal).step(0x22).bytes();
  }
  seeds["d04_both_directions"] = of(kChains).step(0x11).used(0, 1).step(kReap).bytes();
  Output reset = of(kChains, kEventIdx);
  reset.step(0x11).step(0x01).used(1, 0).op(DmaOp::kReset).step(0x11).used(0, 1).step(kReap);
  seeds["d05_reset"] = reset.op(DmaOp::kReset).op(DmaOp::kReset).bytes();
  for (const auto user : {kMerged, kSingle}) {
    const std::string name = user == kMerged ? "merged" : "single";
    Output packets = of(user);
    packets.step(8).op(DmaOp::kHeader).u8(0).u16(2).used(0, 256).used(1, 100).used(2, 72).step(8);
    packets.op(DmaOp::kHeader).u8(3).u16(9).used(3, 256).used(4, 256).step(1).used(5, 11).step(8);
    seeds["rx_" + name] = packets.op(DmaOp::kReset).step(8).bytes();
    seeds["i08_rx_" + name] = of(user).step(8).used(0, 257).step(8).op(DmaOp::kReset).bytes();
  }
  for (const bool headroom : {false, true}) {
    Output tx = of(kXskTx, 0, headroom);
    tx.offer(1, 60).offer(2, 1000).offer(3, 2000).step(15).used(1, 0).step(15).used(0, 0).step(15);
    tx.op(DmaOp::kEntry).u8(3).u32(0x3fff).u32(0).u32(2).u32(0).op(DmaOp::kIndex).u8(2).u32(4);
    seeds[headroom ? "xsk_tx_headroom" : "xsk_tx"] = tx.step(15).op(DmaOp::kCollect).bytes();
  }
  Output rx = of(kXskRx);
  rx.offer(0, 1).offer(1, 1).offer(2, 1).step(15).used(0, 72).step(15).used(1, 11).step(15);
  rx.op(DmaOp::kHeader).u8(2).u16(3).used(2, 100).step(15).op(DmaOp::kResize).u8(4).step(15);
  seeds["xsk_rx"] = rx.op(DmaOp::kCollect).offer(3, 1).step(15).used(0, 72).step(15).bytes();
  for (const std::size_t which : {0u, 5u, 2u, 7u})
    seeds["xsk_index_" + std::to_string(which)] = of(which == 0 || which == 5 ? kXskRx : kXskTx)
                                                      .offer(0, 60)
                                                      .step(1)
                                                      .used(0, which == 5 ? 72 : 0)
                                                      .step(1)
                                                      .op(DmaOp::kIndex)
                                                      .u8(which)
                                                      .u32(0x80000000)
                                                      .offer(1, 60)
                                                      .step(15)
                                                      .bytes();
  return seeds;
}

}  // namespace vringlab::test
