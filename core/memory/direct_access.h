// The access concepts on plain memory: what a user-space back end would run.
#pragma once

#include <cstring>

#include "core/memory/access.h"
#include "core/memory/ring_areas.h"

namespace vringlab {

// Device side.
class DirectAccess {
 public:
  explicit DirectAccess(const RingAreas& areas) : areas_(areas) {}

  std::uint16_t get_avail_idx() const { return load_word(areas_.avail + kRingIdxWord); }
  std::uint16_t get_avail_head(std::uint16_t slot) const {
    return load_word(areas_.avail + kAvailRingWord + slot);
  }
  std::uint16_t get_avail_flags() const { return load_word(areas_.avail + kRingFlagsWord); }
  std::uint16_t get_used_event() const {
    return load_word(areas_.avail + used_event_word(areas_.size));
  }
  std::uint16_t get_used_idx() const { return load_word(areas_.used + kRingIdxWord); }
  // Volatile, so that each field is read exactly once even if a hostile driver
  // rewrites it meanwhile.
  Desc get_descriptor(std::uint16_t index) const {
    const volatile Desc& d = areas_.desc[index];
    return {d.addr, d.len, d.flags, d.next};
  }
  void put_used_elements(std::uint16_t slot, const UsedElem* elems, std::uint16_t count) {
    std::memcpy(areas_.used_ring() + slot, elems, count * sizeof(UsedElem));
  }
  void put_used_flags(std::uint16_t flags) { store_word(areas_.used + kRingFlagsWord, flags); }
  void put_used_idx(std::uint16_t idx) { store_word(areas_.used + kRingIdxWord, idx); }
  void put_avail_event(std::uint16_t idx) {
    store_word(areas_.used + avail_event_word(areas_.size), idx);
  }
  void begin_section(Scope) {}
  void end_section(Scope) {}
  template <OrderPoint P>
  void order() {
    order_threads<P>();
  }

 private:
  RingAreas areas_;
};
static_assert(RingAccess<DirectAccess>);

// Device side, buffers.
class DirectPayload {
 public:
  explicit DirectPayload(const GuestMemory& memory) : memory_(&memory) {}

  Result<std::size_t> translate(GuestAddr addr, std::uint32_t len, std::span<Piece> out) const {
    return memory_->translate(addr, len, out);
  }
  void copy_in(Transfer, std::byte* host, const std::byte* source, std::uint32_t len) {
    std::memcpy(host, source, len);
  }
  void copy_out(Transfer, std::byte* host, const std::byte* source, std::uint32_t len) {
    std::memcpy(host, source, len);
  }
  void begin_copies() {}
  void end_copies() {}

 private:
  const GuestMemory* memory_;
};
static_assert(PayloadAccess<DirectPayload>);

// Driver side.
class DirectDriverAccess {
 public:
  explicit DirectDriverAccess(const RingAreas& areas) : areas_(areas) {}

  void put_descriptor(std::uint16_t index, const Desc& desc) { areas_.desc[index] = desc; }
  void put_indirect(Desc* entry, const Desc& desc) { *entry = desc; }
  void put_avail_head(std::uint16_t slot, std::uint16_t head) {
    store_word(areas_.avail + kAvailRingWord + slot, head);
  }
  void put_avail_idx(std::uint16_t idx) { store_word(areas_.avail + kRingIdxWord, idx); }
  void put_avail_flags(std::uint16_t flags) { store_word(areas_.avail + kRingFlagsWord, flags); }
  void put_used_event(std::uint16_t idx) {
    store_word(areas_.avail + used_event_word(areas_.size), idx);
  }
  void clear_used(bool event_idx) {
    store_word(areas_.used + kRingFlagsWord, 0);
    store_word(areas_.used + kRingIdxWord, 0);
    if (event_idx) store_word(areas_.used + avail_event_word(areas_.size), 0);
  }
  std::uint16_t get_used_idx() const { return load_word(areas_.used + kRingIdxWord); }
  UsedElem get_used_element(std::uint16_t slot) const {
    const volatile UsedElem& e = areas_.used_ring()[slot];
    return {e.id, e.len};
  }
  std::uint16_t get_used_flags() const { return load_word(areas_.used + kRingFlagsWord); }
  std::uint16_t get_avail_event() const {
    return load_word(areas_.used + avail_event_word(areas_.size));
  }
  template <OrderPoint P>
  void order() {
    order_threads<P>();
  }

 private:
  RingAreas areas_;
};
static_assert(ResettableDriverAccess<DirectDriverAccess>);

}  // namespace vringlab
