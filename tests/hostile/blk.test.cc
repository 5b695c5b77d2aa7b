// The block loop against a driver that asks for what it must not have: rows b1 to b9 of the
// catalogue of hostile inputs, through the whole loop.
#include <gtest/gtest.h>

#include <vector>

#include "core/backend/blk/memory_store.h"
#include "tests/double/blk_rig.h"
#include "tests/double/hostile_chains.h"

namespace vringlab {
namespace {

using test::ask_flush;
using test::ask_read;
using test::ask_segments;
using test::ask_write;
using test::blk_pattern;
using test::BlkAsk;
using test::BlkRig;
using test::kNoStatus;

constexpr std::uint64_t kCapacity = 64;  // sectors
constexpr BlkDisk kDisk{.capacity_sectors = kCapacity, .id = {'h', 'o', 's', 't', 'i', 'l', 'e'}};

struct HostileDisk {
  std::vector<std::byte> disk = blk_pattern(kCapacity * kSectorBytes, 100);
  std::vector<std::byte> before = disk;
  MemoryStore store{disk};
  BlkRig<MemoryStore> rig;

  explicit HostileDisk(const BlkDisk& what = kDisk) : rig(store, {.disk = what}) {}

  bool unchanged() const { return disk == before; }
  // The status of one request, served alone.
  int serve(const BlkAsk& ask) {
    rig.offer(0, ask);
    EXPECT_EQ(rig.run(), Turn::kEmpty);
    EXPECT_EQ(last_used().id, 0u);
    return rig.status(0, ask);
  }
  // Serves a chain of these descriptors.
  UsedElem serve_chain(const std::vector<Desc>& chain) {
    test::put_chain(rig.ring, 0, chain);
    rig.ring.offer(0);
    EXPECT_EQ(rig.run(), Turn::kEmpty);
    return last_used();
  }
  UsedElem last_used() {
    EXPECT_EQ(rig.ring.used_idx(), rig.ring.avail_idx());  // the head is returned, always
    return rig.ring.used((rig.ring.used_idx() - 1u) & rig.ring.areas.mask());
  }
};

TEST(HostileBlk, b1_the_sum_of_descriptors_passes_the_capacity) {
  for (const bool indirect : {false, true}) {
    HostileDisk host;
    std::vector<Desc> chain{{0x10000, 16, 0, 0}};
    host.rig.guest.write(0x10000, VirtioBlkReqHdr{.type = kBlkOut, .sector = kCapacity - 1});
    host.rig.guest.fill(0x11000, 512);
    for (int i = 0; i < 5; ++i) chain.push_back({0x11000, 512, 0, 0});
    chain.push_back({0x12000, 1, kDescWrite, 0});
    if (indirect) {
      test::put_indirect(host.rig.guest, host.rig.ring, 0, 0x4000, chain);
      host.rig.ring.offer(0);
      host.rig.run();
    } else {
      host.serve_chain(chain);
    }
    EXPECT_EQ(host.last_used(), (UsedElem{0, 1}));
    EXPECT_EQ(host.rig.guest.byte(0x12000), std::byte{kBlkStatusIoErr});
    EXPECT_TRUE(host.unchanged());
    chain.erase(chain.begin() + 2, chain.begin() + 6);  // one descriptor of data fits
    host.serve_chain(chain);
    EXPECT_EQ(host.rig.guest.byte(0x12000), std::byte{kBlkStatusOk});
  }
}

TEST(HostileBlk, b2_sectors_whose_place_would_wrap) {
  HostileDisk host;
  for (const std::uint64_t sector :
       {UINT64_MAX, std::uint64_t{1} << 55, (UINT64_MAX >> 9) + 1, UINT64_MAX - 7, kCapacity}) {
    EXPECT_EQ(host.serve(ask_write(sector, blk_pattern(512))), kBlkStatusIoErr);
    EXPECT_EQ(host.serve(ask_read(sector, 4096)), kBlkStatusIoErr);
    EXPECT_EQ(host.serve(ask_segments(kBlkDiscard, {{sector, 1, 0}})), kBlkStatusIoErr);
    EXPECT_EQ(host.serve(ask_segments(kBlkWriteZeroes, {{0, 1, 0}, {sector, UINT32_MAX, 0}})),
              kBlkStatusIoErr);
  }
  EXPECT_TRUE(host.unchanged());
}

TEST(HostileBlk, b3_whole_sectors_of_any_pieces) {
  HostileDisk host;
  host.rig.guest.write(0x10000, VirtioBlkReqHdr{.type = kBlkOut});
  host.rig.guest.fill(0x11000, 512);
  std::vector<Desc> chain{{0x10000, 16, 0, 0},
                          {0x11000, 300, 0, 0},
                          {0x11000 + 300, 200, 0, 0},
                          {0x12000, 1, kDescWrite, 0}};
  host.serve_chain(chain);
  EXPECT_EQ(host.rig.guest.byte(0x12000), std::byte{kBlkStatusIoErr});
  EXPECT_TRUE(host.unchanged());
  chain[2].len = 212;
  host.serve_chain(chain);
  EXPECT_EQ(host.rig.guest.byte(0x12000), std::byte{kBlkStatusOk});
  EXPECT_TRUE(std::ranges::equal(std::span(host.disk).first(512), blk_pattern(512)));
}

constexpr Desc kHeader{0x10000, 16, 0, 0};
constexpr Desc kData{0x11000, 512, kDescWrite, 0};

// No place for a status: the head comes back with length 0, and nothing was written.
TEST(HostileBlk, b4_no_place_for_the_status) {
  const std::vector<std::vector<Desc>> chains = {
      {kHeader},                                            // header only
      {kHeader, {0x11000, 512, 0, 0}},                      // nothing writable
      {kHeader, {0x12000, 0, kDescWrite, 0}},               // all that is writable is empty
      {kHeader, {0x11000, 512, 0, 0}, {0x12000, 1, 0, 0}},  // read-only
      {kHeader, kData, {BlkRig<MemoryStore>::kEnd, 1, kDescWrite, 0}},  // outside memory
      {kHeader, kData, {UINT64_MAX, 1, kDescWrite, 0}},
      {kHeader, kData, {0x12000, 1, 0, 0}},  // read-only behind writable
      {}};                                   // a descriptor of nothing
  for (std::vector<Desc> chain : chains) {
    HostileDisk host;
    host.rig.guest.write(0x10000, VirtioBlkReqHdr{.type = kBlkIn});
    for (const std::uint64_t addr : {0x11000u, 0x111ffu, 0x12000u})
      host.rig.guest.byte(addr) = kNoStatus;
    if (chain.empty()) chain = {{0x10000, 0, 0, 0}};
    EXPECT_EQ(host.serve_chain(chain), (UsedElem{0, 0}));
    EXPECT_EQ(host.rig.blk.counters().refused, 1u);
    for (const std::uint64_t addr : {0x11000u, 0x111ffu, 0x12000u})
      EXPECT_EQ(host.rig.guest.byte(addr), kNoStatus) << addr;
  }
}

// The last writable descriptor is empty: the last byte that can be written is the status.
TEST(HostileBlk, b4_an_empty_last_descriptor) {
  HostileDisk host;
  host.rig.guest.write(0x10000, VirtioBlkReqHdr{.type = kBlkIn});
  const Desc empty{0x12000, 0, kDescWrite, 0};
  host.rig.guest.byte(0x12000) = host.rig.guest.byte(0x11fff) = kNoStatus;
  Desc data = kData;
  EXPECT_EQ(host.serve_chain({kHeader, data, empty}), (UsedElem{0, 1}));
  EXPECT_EQ(host.rig.guest.byte(0x111ff), std::byte{kBlkStatusIoErr});  // 511 bytes of data
  data.len = 513;
  EXPECT_EQ(host.serve_chain({kHeader, data, empty}), (UsedElem{0, 513}));
  EXPECT_EQ(host.rig.guest.byte(0x11200), std::byte{kBlkStatusOk});
  EXPECT_EQ(host.rig.guest.byte(0x12000), kNoStatus);
  EXPECT_EQ(host.rig.guest.byte(0x11fff), kNoStatus);
}

TEST(HostileBlk, b4_a_short_header_with_a_place_for_the_status) {
  for (const std::uint32_t len : {0u, 1u, 15u}) {
    HostileDisk host;
    const Desc header{0x10000, len, 0, 0};
    EXPECT_EQ(host.serve_chain({header, {0x12000, 1, kDescWrite, 0}}), (UsedElem{0, 1}));
    EXPECT_EQ(host.rig.guest.byte(0x12000), std::byte{kBlkStatusIoErr});
  }
}

TEST(HostileBlk, b5_header_in_pieces_or_with_its_data) {
  const std::vector<std::vector<Desc>> headers = {
      {{0x10000, 8, 0, 0}, {0x10008, 8, 0, 0}, {0x10010, 512, 0, 0}},
      {{0x10000, 528, 0, 0}},
      {{0x10000, 1, 0, 0}, {0x10001, 0, 0, 0}, {0x10001, 527, 0, 0}},
      {{0x10000, 16, 0, 0}, {0x10010, 1, 0, 0}, {0x10011, 511, 0, 0}}};
  for (std::vector<Desc> chain : headers) {
    HostileDisk host;
    host.rig.guest.write(0x10000, VirtioBlkReqHdr{.type = kBlkOut, .sector = 2});
    host.rig.guest.fill(0x10010, 512);
    chain.push_back({0x12000, 1, kDescWrite, 0});
    EXPECT_EQ(host.serve_chain(chain), (UsedElem{0, 1}));
    EXPECT_EQ(host.rig.guest.byte(0x12000), std::byte{kBlkStatusOk});
    EXPECT_TRUE(std::ranges::equal(std::span(host.disk).subspan(1024, 512), blk_pattern(512)));
  }
}

TEST(HostileBlk, b7_a_read_only_disk) {
  BlkDisk disk = kDisk;
  disk.read_only = true;
  HostileDisk host(disk);
  EXPECT_EQ(host.serve(ask_write(0, blk_pattern(512))), kBlkStatusIoErr);
  EXPECT_EQ(host.serve(ask_segments(kBlkDiscard, {{0, 1, 0}})), kBlkStatusIoErr);
  EXPECT_EQ(host.serve(ask_segments(kBlkWriteZeroes, {{0, 1, 1}})), kBlkStatusIoErr);
  EXPECT_TRUE(host.unchanged());
  EXPECT_EQ(host.serve(ask_read(0, 512)), kBlkStatusOk);
  EXPECT_EQ(host.serve(ask_flush()), kBlkStatusOk);
}

TEST(HostileBlk, b8_the_name_never_passes_its_buffer) {
  for (const auto& [room, written] : {std::pair{10u, 11u}, {30u, 21u}, {0u, 1u}}) {
    HostileDisk host;
    const BlkAsk ask{.type = kBlkGetId, .in_bytes = room};
    host.rig.offer(0, ask);
    host.rig.guest.fill(host.rig.buffers(0, ask).data(), 64, 50);
    host.rig.run();
    EXPECT_EQ(host.rig.status(0, ask), kBlkStatusOk);
    EXPECT_EQ(host.last_used(), (UsedElem{0, written}));
    const auto after = host.rig.bytes_at(host.rig.buffers(0, ask).data(), 64);
    for (std::size_t i = written - 1; i < 64; ++i) {
      if (i == room) continue;  // the status
      EXPECT_EQ(after[i], test::RawGuest::pattern(50 + i)) << i;
    }
  }
}

TEST(HostileBlk, b9_unknown_types) {
  HostileDisk host;
  for (const std::uint32_t type : {2u, 5u, 12u, 14u, UINT32_MAX}) {
    BlkAsk ask = ask_write(0, blk_pattern(512));
    ask.type = type;
    EXPECT_EQ(host.serve(ask), kBlkStatusUnsupp);
    EXPECT_EQ(host.last_used(), (UsedElem{0, 1}));
  }
  EXPECT_TRUE(host.unchanged());
}

// The header is read once: what the driver writes afterwards comes too late.
TEST(HostileBlk, w16_a_header_rewritten_after_it_was_read) {
  struct Rewriting : DirectPayload {
    Rewriting(const GuestMemory& memory, test::RawGuest& g) : DirectPayload(memory), guest(&g) {}
    void copy_in(Transfer what, std::byte* host, const std::byte* source, std::uint32_t len) {
      DirectPayload::copy_in(what, host, source, len);
      if (what == Transfer::kHeader)
        guest->write(0x10000, VirtioBlkReqHdr{.type = kBlkOut, .sector = UINT64_MAX});
    }
    test::RawGuest* guest;
  };
  HostileDisk host;
  test::CountingCaller caller;
  Blk<DirectAccess, Rewriting, MemoryStore, test::CountingCaller> blk(
      {DirectAccess(host.rig.ring.areas), Rewriting(host.rig.guest.memory(), host.rig.guest),
       host.rig.ring.config},
      host.store, caller, {.disk = kDisk}, 2);
  const BlkAsk ask = ask_read(3, 512);
  host.rig.offer(0, ask);
  blk.step();
  EXPECT_EQ(host.rig.status(0, ask), kBlkStatusOk);
  EXPECT_TRUE(std::ranges::equal(host.rig.data(0, ask), std::span(host.disk).subspan(1536, 512)));
}

// Every malformed chain of the table, with nothing writable or with a status behind it: none is
// lost, the next request is served.
TEST(HostileBlk, every_malformed_chain_comes_back) {
  for (const test::HostileChain& row : test::hostile_chains()) {
    SCOPED_TRACE(row.name);
    for (const bool writable : {false, true}) {
      std::vector<std::byte> disk(kCapacity * kSectorBytes);
      MemoryStore store(disk);
      test::RawGuest guest(test::regions_of(row.layout));
      test::RawRing ring(guest, test::kHostileRingSize, row.features);
      test::CountingCaller caller;
      Blk<DirectAccess, DirectPayload, MemoryStore, test::CountingCaller> blk(
          {DirectAccess(ring.areas), DirectPayload(guest.memory()), ring.config}, store, caller,
          {.disk = kDisk}, guest.regions());
      row.build(guest, ring);
      if (writable) test::make_writable(guest, ring);
      ring.offer(0);
      EXPECT_EQ(blk.step(), Turn::kPacket);
      ASSERT_EQ(ring.used_idx(), 1);
      EXPECT_EQ(ring.used(0).id, 0u);
      // With all of it writable, nothing readable follows.
      const bool good =
          row.error == RingError::kNone || row.error == RingError::kReadableAfterWritable;
      EXPECT_EQ(ring.used(0).len, good && writable ? 1u : 0u);
      EXPECT_EQ(blk.step(), Turn::kEmpty);
    }
  }
}

}  // namespace
}  // namespace vringlab
