// Block requests as a driver may lay them out: the same bytes in different descriptors.
#pragma once

#include <vector>

#include "core/spec/blk.h"
#include "tests/double/raw_guest.h"

namespace vringlab::test {

// Where descriptors end; 2.7.4 leaves that to the driver.
enum class BlkShape : std::uint8_t {
  kPlain,        // header | data | status
  kSplitHeader,  // 8 | 8 | data | status
  kJoined,       // all that is readable | all that is writable
  kScattered     // descriptors that end anywhere, some of them empty
};
inline constexpr BlkShape kBlkShapes[] = {BlkShape::kPlain, BlkShape::kSplitHeader,
                                          BlkShape::kJoined, BlkShape::kScattered};
inline constexpr std::uint16_t kBlkMaxDescriptors = 8;  // of a request in any shape

// A request's bytes lie one behind the other: header, data, status.
struct BlkBuffers {
  std::uint64_t addr = 0;
  std::uint32_t out_bytes = 0;
  std::uint32_t in_bytes = 0;

  std::uint32_t readable() const { return sizeof(VirtioBlkReqHdr) + out_bytes; }
  std::uint64_t data() const { return addr + sizeof(VirtioBlkReqHdr); }
  std::uint64_t status() const { return addr + readable() + in_bytes; }
};

// Appends descriptors of [begin, end), which end at `cuts` too.
inline void append_cut(std::vector<Desc>& chain, std::uint64_t addr, std::uint32_t begin,
                       std::uint32_t end, std::vector<std::uint32_t> cuts, std::uint16_t flags) {
  cuts.push_back(end);
  for (const std::uint32_t cut : cuts) {
    const std::uint32_t upto = std::clamp(cut, begin, end);
    chain.push_back({addr + begin, upto - begin, flags, 0});
    begin = upto;
  }
}

// The descriptors of a request, not yet linked.
inline std::vector<Desc> blk_chain(const BlkBuffers& at, BlkShape shape) {
  const std::uint32_t readable = at.readable();
  const std::uint32_t end = readable + at.in_bytes + 1;
  std::vector<std::uint32_t> out;
  std::vector<std::uint32_t> in;
  if (shape == BlkShape::kSplitHeader) out = {8};
  if (shape == BlkShape::kSplitHeader || shape == BlkShape::kPlain) {
    if (at.out_bytes > 0) out.push_back(16);
    if (at.in_bytes > 0) in = {end - 1};
  }
  if (shape == BlkShape::kScattered) {
    out = {3, 16 + at.out_bytes / 5 * 3, 16 + at.out_bytes / 5 * 3};
    in = {readable + at.in_bytes / 7 * 2, end, end};  // the last ones are empty
  }
  std::vector<Desc> chain;
  append_cut(chain, at.addr, 0, readable, out, 0);
  append_cut(chain, at.addr, readable, end, in, kDescWrite);
  return chain;
}

// Puts a chain into consecutive descriptors from `head` on.
inline void put_chain(RawRing& ring, std::uint16_t head, std::span<const Desc> chain) {
  for (std::size_t i = 0; i < chain.size(); ++i) {
    Desc& desc = ring.desc(head + i);
    desc = chain[i];
    if (i + 1 == chain.size()) return;
    desc.flags |= kDescNext;
    desc.next = static_cast<std::uint16_t>(head + i + 1);
  }
}

// Puts a chain into a table of its own, in order.
template <class Guest>
inline void put_indirect(Guest& guest, RawRing& ring, std::uint16_t head, std::uint64_t table,
                         std::vector<Desc> chain) {
  for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
    chain[i].flags |= kDescNext;
    chain[i].next = static_cast<std::uint16_t>(i + 1);
  }
  guest.write_table(table, chain);
  ring.desc(head) = {table, static_cast<std::uint32_t>(chain.size() * sizeof(Desc)), kDescIndirect,
                     0};
}

}  // namespace vringlab::test
