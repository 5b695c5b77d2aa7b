// Descriptor chains that a driver should not or may just make, one row each, by
// the ids of the catalogue of hostile inputs. The walk, the transmit loop and
// the seeds of the fuzzer all go through this table.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "core/spec/error.h"
#include "tests/double/raw_guest.h"

namespace vringlab::test {

enum class Layout : std::uint8_t {
  kOne,   // [0, 0x10000)
  kSeam,  // [0, 0x10000) and [0x10000, 0x20000), apart in the host
  kHole   // [0, 0x10000) and [0x11000, 0x20000)
};
inline constexpr std::uint8_t kLayouts = 3;

inline std::vector<RegionSpec> regions_of(Layout layout) {
  switch (layout) {
    case Layout::kSeam:
      return {{0, 0x10000}, {0x10000, 0x10000}};
    case Layout::kHole:
      return {{0, 0x10000}, {0x11000, 0xf000}};
    default:
      return {{0, 0x10000}};
  }
}

inline constexpr std::uint16_t kHostileRingSize = 8;

struct HostileChain {
  const char* name;
  RingError error;      // what the walk says; kNone: the chain is good
  std::uint32_t bytes;  // readable bytes, if it is good
  Layout layout;
  std::uint64_t features;
  void (*build)(RawGuest& guest, RawRing& ring);  // the chain starts at desc[0]
};

// `count` descriptors of four bytes, each linked to the one behind it; the last
// links back to the first if `loops`.
inline std::vector<Desc> links(std::uint16_t count, bool loops) {
  std::vector<Desc> chain;
  for (std::uint16_t i = 0; i < count; ++i)
    chain.push_back({0x1000u + 4u * i, 4, kDescNext, static_cast<std::uint16_t>(i + 1)});
  chain.back().next = 0;
  if (!loops) chain.back().flags = 0;
  return chain;
}

inline void put_links(RawRing& ring, std::uint16_t count, bool loops) {
  for (std::uint16_t i = 0; const Desc& desc : links(count, loops)) ring.desc(i++) = desc;
}

// desc[0] points at a table of `entries`, but claims `len` bytes.
inline void put_table(RawGuest& guest, RawRing& ring, std::uint64_t addr,
                      std::span<const Desc> entries, std::size_t len) {
  guest.write_table(addr, entries);
  ring.desc(0) = {addr, static_cast<std::uint32_t>(len), kDescIndirect, 0};
}
inline void put_table(RawGuest& guest, RawRing& ring, std::uint64_t addr,
                      std::span<const Desc> entries) {
  put_table(guest, ring, addr, entries, entries.size_bytes());
}

inline constexpr std::uint64_t kTop = 0xffffffffffffff00;

// One good entry of 64 bytes, for tables whose length is what is wrong.
template <std::uint32_t Len>
void put_table_of_length(RawGuest& guest, RawRing& ring) {
  const std::array table{Desc{0x1000, 64, 0, 0}, Desc{0x1000, 64, 0, 0}};
  put_table(guest, ring, 0x2000, table, Len);
}
// A table of two whose first entry goes on at `Next`.
template <std::uint16_t Next>
void put_table_next(RawGuest& guest, RawRing& ring) {
  const std::array table{Desc{0x1000, 64, kDescNext, Next}, Desc{0x1000, 64, 0, 0}};
  put_table(guest, ring, 0x2000, table);
}
template <std::uint16_t Next>
void put_next(RawGuest&, RawRing& ring) {
  ring.desc(0) = {0x1000, 64, kDescNext, Next};
  ring.desc(7) = {0x1000, 64, 0, 0};
}
template <std::uint64_t Addr, std::uint32_t Len, std::uint16_t Flags = 0>
void put_buffer(RawGuest&, RawRing& ring) {
  ring.desc(0) = {Addr, Len, Flags, 0};
}
template <std::uint16_t Entries, bool Loops>
void put_table_links(RawGuest& guest, RawRing& ring) {
  put_table(guest, ring, 0x2000, links(Entries, Loops));
}

inline std::span<const HostileChain> hostile_chains() {
  using enum RingError;
  using enum Layout;
  static const std::vector<HostileChain> rows = {
      {"w01_two_empty_in_a_ring", kChainTooLong, 0, kOne, 0,
       [](RawGuest&, RawRing& ring) {
         ring.desc(0) = {0x1000, 0, kDescNext, 1};
         ring.desc(1) = {0x1000, 0, kDescNext, 0};
       }},
      {"w02_points_at_itself", kChainTooLong, 0, kOne, 0, put_next<0>},
      {"w03_exactly_n", kNone, 32, kOne, 0,
       [](RawGuest&, RawRing& ring) { put_links(ring, 8, false); }},
      {"w03_n_plus_1_by_a_loop", kChainTooLong, 0, kOne, 0,
       [](RawGuest&, RawRing& ring) { put_links(ring, 8, true); }},
      {"w04_next_is_n_minus_1", kNone, 128, kOne, 0, put_next<7>},
      {"w04_next_is_n", kNextOutOfRange, 0, kOne, 0, put_next<8>},
      {"w04_next_is_ffff", kNextOutOfRange, 0, kOne, 0, put_next<0xffff>},
      // Found outside memory before the sum is; the sum alone: see the walk's test.
      {"w05_lengths_overflow", kAddressOutsideMemory, 0, kOne, 0,
       [](RawGuest&, RawRing& ring) {
         ring.desc(0) = {0x1000, 0xffffffff, kDescNext, 1};
         ring.desc(1) = {0x1000, 0x12345678, 0, 0};
       }},
      {"w06_indirect_with_next", kIndirectWithNext, 0, kOne, kIndirect,
       [](RawGuest& guest, RawRing& ring) {
         put_table(guest, ring, 0x2000, links(2, false));
         ring.desc(0).flags = kDescIndirect | kDescNext;
       }},
      {"w07_next_inside_table", kNone, 128, kOne, kIndirect, put_table_next<1>},
      {"w07_next_is_entries", kNextOutOfRange, 0, kOne, kIndirect, put_table_next<2>},
      {"w07_next_inside_ring_only", kNextOutOfRange, 0, kOne, kIndirect, put_table_next<5>},
      {"w07_table_loops", kChainTooLong, 0, kOne, kIndirect, put_table_links<2, true>},
      {"w08_table_of_n", kNone, 32, kOne, kIndirect, put_table_links<8, false>},
      {"w08_table_of_n_plus_1", kIndirectTooLong, 0, kOne, kIndirect, put_table_links<9, false>},
      {"w09_length_0", kIndirectLength, 0, kOne, kIndirect, put_table_of_length<0>},
      {"w09_length_8", kIndirectLength, 0, kOne, kIndirect, put_table_of_length<8>},
      {"w09_length_15", kIndirectLength, 0, kOne, kIndirect, put_table_of_length<15>},
      {"w09_length_16", kNone, 64, kOne, kIndirect, put_table_of_length<16>},
      {"w09_length_17", kIndirectLength, 0, kOne, kIndirect, put_table_of_length<17>},
      {"w10_table_at_odd_address", kNone, 32, kSeam, kIndirect,
       [](RawGuest& guest, RawRing& ring) { put_table(guest, ring, 0x10001, links(8, false)); }},
      {"w11_indirect_with_write", kNone, 32, kOne, kIndirect,
       [](RawGuest& guest, RawRing& ring) {
         put_table(guest, ring, 0x2000, links(8, false));
         ring.desc(0).flags = kDescIndirect | kDescWrite;
       }},
      {"w11_plain_then_indirect", kNone, 36, kOne, kIndirect,
       [](RawGuest& guest, RawRing& ring) {
         put_table(guest, ring, 0x2000, links(7, false));
         ring.desc(1) = ring.desc(0);
         ring.desc(0) = {0x1000, 8, kDescNext, 1};
       }},
      {"w11_indirect_inside_indirect", kIndirectNested, 0, kOne, kIndirect,
       [](RawGuest& guest, RawRing& ring) {
         const std::array table{Desc{0x1000, 64, kDescNext, 1}, Desc{0x3000, 16, kDescIndirect, 0}};
         put_table(guest, ring, 0x2000, table);
         guest.write(0x3000, Desc{0x1000, 64, 0, 0});
       }},
      {"w11_indirect_not_negotiated", kIndirectNotNegotiated, 0, kOne, 0,
       put_table_links<8, false>},
      {"w12_table_across_the_seam", kNone, 32, kSeam, kIndirect,
       [](RawGuest& guest, RawRing& ring) { put_table(guest, ring, 0xfff8, links(8, false)); }},
      {"w12_buffer_across_the_seam", kNone, 64, kSeam, 0, put_buffer<0xffe0, 64>},
      {"w12_buffer_up_to_the_end", kNone, 64, kSeam, 0, put_buffer<0x1ffc0, 64>},
      {"w12_buffer_off_the_end", kAddressOutsideMemory, 0, kSeam, 0, put_buffer<0x1ffc1, 64>},
      {"w12_buffer_into_a_hole", kAddressOutsideMemory, 0, kHole, 0, put_buffer<0xffe0, 64>},
      {"w12_buffer_over_a_hole", kAddressOutsideMemory, 0, kHole, 0, put_buffer<0xffe0, 0x1040>},
      {"w12_table_into_a_hole", kAddressOutsideMemory, 0, kHole, kIndirect,
       [](RawGuest&, RawRing& ring) {
         ring.desc(0) = {0xfff8, 32, kDescIndirect, 0};
       }},
      {"w14_address_overflows", kAddressOverflow, 0, kOne, 0, put_buffer<kTop, 512>},
      {"w14_address_just_below_2_64", kAddressOutsideMemory, 0, kOne, 0, put_buffer<kTop, 255>},
      {"w14_table_overflows", kAddressOverflow, 0, kOne, kIndirect,
       put_buffer<0xfffffffffffffff8, 32, kDescIndirect>},
      // A page is more than a transmit buffer holds: whole it is good for the walk only.
      {"w15_up_to_the_end", kNone, 0x1000, kOne, 0, put_buffer<0xf000, 0x1000>},
      {"w15_one_byte_past_the_end", kAddressOutsideMemory, 0, kOne, 0, put_buffer<0xf000, 0x1001>},
      {"w17_readable_after_writable", kReadableAfterWritable, 0, kOne, 0,
       [](RawGuest&, RawRing& ring) {
         ring.desc(0) = {0x1000, 64, kDescNext | kDescWrite, 1};
         ring.desc(1) = {0x2000, 64, 0, 0};
       }},
      {"w18_huge_writable", kAddressOutsideMemory, 0, kSeam, 0,
       put_buffer<0x4000, 1u << 30, kDescWrite>},
      {"zero_length_contributes_nothing", kNone, 64, kOne, 0,
       [](RawGuest&, RawRing& ring) {
         ring.desc(0) = {0x1000, 64, kDescNext, 1};
         ring.desc(1) = {kTop, 0, kDescNext, 2};
         ring.desc(2) = {0, 0, 0, 0};
       }},
  };
  return rows;
}

// The same chain for a receive queue: every buffer is the device's to write.
inline void make_writable(RawGuest& guest, RawRing& ring) {
  for (std::uint16_t i = 0; i < kHostileRingSize; ++i) {
    Desc& desc = ring.desc(i);
    desc.flags |= kDescWrite;
    if ((desc.flags & kDescIndirect) == 0) continue;
    for (std::uint64_t at = 0; at < desc.len; at += sizeof(Desc)) {
      const std::uint64_t flags = desc.addr + at + offsetof(Desc, flags);
      if (guest.holds(flags)) guest.byte(flags) |= std::byte{kDescWrite};
    }
  }
}

// Each head of the ring leads to a table of as many entries: `len` bytes to write in
// each, `last` in the last.
inline void put_writable_tables(RawGuest& guest, RawRing& ring, std::uint32_t len,
                                std::uint32_t last) {
  std::vector<Desc> table(kHostileRingSize,
                          {0x4000, len, static_cast<std::uint16_t>(kDescWrite | kDescNext), 0});
  for (std::uint16_t i = 0; i < kHostileRingSize; ++i)
    table[i].next = static_cast<std::uint16_t>(i + 1);
  table.back() = {0x4000, last, kDescWrite, 0};
  for (std::uint16_t head = 0; head < kHostileRingSize; ++head) {
    const std::uint64_t addr = 0x8000 + 0x100u * head;
    guest.write_table(addr, table);
    const auto bytes = static_cast<std::uint32_t>(table.size() * sizeof(Desc));
    ring.desc(head) = {addr, bytes, kDescIndirect, 0};
  }
}

}  // namespace vringlab::test
