// The access concepts of core for the explorer: every access to the ring or to
// a buffer is an operation of the model, every order point a fence.
#pragma once

#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "core/memory/access.h"
#include "tests/order/program.h"

namespace vringlab::order {

inline constexpr std::uint16_t kRingSize = 2;
inline constexpr std::uint16_t kMaxRequests = 3;  // one more than the ring: a slot is used again

// Where things lie. Each location has one writer.
enum : Location {
  kDescTable = 0,
  kAvailFlags = kDescTable + kRingSize,
  kAvailIdx,
  kAvailRing,
  kUsedEvent = kAvailRing + kRingSize,
  kUsedFlags,
  kUsedIdx,
  kUsedRing,
  kAvailEvent = kUsedRing + kRingSize,
  kRequest,  // data that the driver writes, one word a request
  kResponse = kRequest + kMaxRequests,
  kLocationCount = kResponse + kMaxRequests
};
static_assert(kLocationCount == kLocations);

inline constexpr std::uint32_t kDataBytes = 4;

constexpr Location offset(Location base, std::size_t index) {
  return static_cast<Location>(base + index);
}
inline std::string name_of(Location at) {
  static constexpr std::array<const char*, kLocations> kNames = {
      "desc[0]",    "desc[1]",    "avail.flags", "avail.idx",    "avail.ring[0]", "avail.ring[1]",
      "used_event", "used.flags", "used.idx",    "used.ring[0]", "used.ring[1]",  "avail_event",
      "request 0",  "request 1",  "request 2",   "response 0",   "response 1",    "response 2"};
  return kNames[at];
}

// Data words have guest addresses so that they pass through descriptors.
constexpr GuestAddr guest_address(Location at) { return {0x1000u + at * kDataBytes}; }

// Orders of one half; the disabled point orders nothing.
struct Orders {
  Tape* tape;
  OrderPoint disabled;

  template <OrderPoint P>
  void order() {
    if (P != disabled) tape->fence(kind_of(P));
  }
  std::uint16_t load16(Location at) { return static_cast<std::uint16_t>(tape->load(at).low); }
  void store16(Location at, std::uint16_t value) { tape->store(at, {value}); }
};

struct ExplorerDriverAccess : Orders {
  void put_descriptor(std::uint16_t index, const Desc& desc) {
    tape->store(offset(kDescTable, index), std::bit_cast<Word>(desc));
  }
  void put_indirect(Desc*, const Desc&) { tape->fail("indirect tables are not explored"); }
  void put_avail_head(std::uint16_t slot, std::uint16_t head) {
    store16(offset(kAvailRing, slot), head);
  }
  void put_avail_idx(std::uint16_t idx) { store16(kAvailIdx, idx); }
  void put_avail_flags(std::uint16_t flags) { store16(kAvailFlags, flags); }
  void put_used_event(std::uint16_t idx) { store16(kUsedEvent, idx); }
  std::uint16_t get_used_idx() { return load16(kUsedIdx); }
  UsedElem get_used_element(std::uint16_t slot) {
    const std::uint64_t elem = tape->load(offset(kUsedRing, slot)).low;
    return {static_cast<std::uint32_t>(elem), static_cast<std::uint32_t>(elem >> 32)};
  }
  std::uint16_t get_used_flags() { return load16(kUsedFlags); }
  std::uint16_t get_avail_event() { return load16(kAvailEvent); }
};
static_assert(DriverAccess<ExplorerDriverAccess>);

struct ExplorerDeviceAccess : Orders {
  std::uint16_t get_avail_idx() { return load16(kAvailIdx); }
  std::uint16_t get_avail_head(std::uint16_t slot) { return load16(offset(kAvailRing, slot)); }
  std::uint16_t get_avail_flags() { return load16(kAvailFlags); }
  std::uint16_t get_used_event() { return load16(kUsedEvent); }
  std::uint16_t get_used_idx() { return load16(kUsedIdx); }
  Desc get_descriptor(std::uint16_t index) {
    return std::bit_cast<Desc>(tape->load(offset(kDescTable, index)));
  }
  void put_used_elements(std::uint16_t slot, const UsedElem* elems, std::uint16_t count) {
    for (std::uint16_t i = 0; i < count; ++i)
      tape->store(offset(kUsedRing, slot + std::size_t{i}),
                  {elems[i].id | std::uint64_t{elems[i].len} << 32});
  }
  void put_used_flags(std::uint16_t flags) { store16(kUsedFlags, flags); }
  void put_used_idx(std::uint16_t idx) { store16(kUsedIdx, idx); }
  void put_avail_event(std::uint16_t idx) { store16(kAvailEvent, idx); }
  void begin_section(Scope) {}
  void end_section(Scope) {}
};
static_assert(RingAccess<ExplorerDeviceAccess>);

// Host pointers of data words; nothing is ever stored behind them.
struct ExplorerPayload {
  Tape* tape;

  static std::byte* host(Location at) {
    static std::byte words[kLocations * kDataBytes];
    return words + at * kDataBytes;
  }
  static Location location(const std::byte* pointer) {
    return static_cast<Location>((pointer - host(0)) / kDataBytes);
  }
  Result<std::size_t> translate(GuestAddr addr, std::uint32_t len, std::span<Piece> out) const {
    const std::uint64_t at = (addr.value - guest_address(0).value) / kDataBytes;
    if (at >= kLocations || len > kDataBytes) return RingError::kAddressOutsideMemory;
    out[0] = {host(static_cast<Location>(at)), len};
    return std::size_t{1};
  }
  void copy_in(Transfer, std::byte* to, const std::byte* source, std::uint32_t len) {
    const Word word = tape->load(location(source));
    std::memcpy(to, &word, len);
  }
  void copy_out(Transfer, std::byte* to, const std::byte* source, std::uint32_t len) {
    Word word;
    std::memcpy(&word, source, len);
    tape->store(location(to), word);
  }
  void begin_copies() {}
  void end_copies() {}
};
static_assert(PayloadAccess<ExplorerPayload>);

}  // namespace vringlab::order
