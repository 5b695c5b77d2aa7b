// The access seam: all that a device does with ring metadata (ten operations),
// with buffers (translate and copy), and all that a driver does with its ring.
// The engine is written against these concepts; DirectAccess and friends
// (direct_access.h) implement them on plain memory.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/memory/guest_memory.h"
#include "core/memory/order.h"
#include "core/spec/split.h"

namespace vringlab {

// A stretch of ring accesses that an implementation may turn into one user
// access section. Scopes nest: kFetch encloses kAvail and kDesc.
enum class Scope : std::uint8_t {
  kAvail,  // the avail entry of one fetch
  kDesc,   // the descriptors of one chain
  kFetch,  // avail entry and descriptors together
  kUsed    // used elements and used.idx
};

// What a device may do with ring metadata; slots and indices are in range.
template <class A>
concept RingAccess = requires(A a, std::uint16_t word, const UsedElem* elems, Scope scope) {
  { a.get_avail_idx() } -> std::same_as<std::uint16_t>;
  { a.get_avail_head(word) } -> std::same_as<std::uint16_t>;
  { a.get_avail_flags() } -> std::same_as<std::uint16_t>;
  { a.get_used_event() } -> std::same_as<std::uint16_t>;
  { a.get_used_idx() } -> std::same_as<std::uint16_t>;
  { a.get_descriptor(word) } -> std::same_as<Desc>;
  a.put_used_elements(word, elems, word);  // first slot, elements, count; no wrap inside
  a.put_used_flags(word);
  a.put_used_idx(word);
  a.put_avail_event(word);
  a.begin_section(scope);
  a.end_section(scope);
  a.template order<OrderPoint::kDeviceReadAvail>();
};

// What a copy moves; implementations may account them apart.
enum class Transfer : std::uint8_t { kIndirect, kHeader, kPayload };

// What a device may do with buffers. begin_copies/end_copies enclose copies
// that were collected to be made in one go.
template <class P>
concept PayloadAccess = requires(P p, GuestAddr addr, std::uint32_t len, std::span<Piece> out,
                                 Transfer what, std::byte* host, const std::byte* source) {
  { p.translate(addr, len, out) } -> std::same_as<Result<std::size_t>>;
  p.copy_in(what, host, source, len);   // from guest memory at `source`
  p.copy_out(what, host, source, len);  // to guest memory at `host`
  p.begin_copies();
  p.end_copies();
};

// What a driver does with its ring.
template <class A>
concept DriverAccess = requires(A a, std::uint16_t word, Desc desc) {
  a.put_descriptor(word, desc);
  a.put_avail_head(word, word);  // slot, head
  a.put_avail_idx(word);
  a.put_avail_flags(word);
  a.put_used_event(word);
  { a.get_used_idx() } -> std::same_as<std::uint16_t>;
  { a.get_used_element(word) } -> std::same_as<UsedElem>;
  { a.get_used_flags() } -> std::same_as<std::uint16_t>;
  { a.get_avail_event() } -> std::same_as<std::uint16_t>;
  a.put_indirect(std::declval<Desc*>(), desc);
  a.template order<OrderPoint::kDriverPublishAvail>();
};

// What a driver needs besides to make a used ring new again: zeroes its flags,
// its index and, where EVENT_IDX is negotiated, avail_event.
template <class A>
concept ResettableDriverAccess = DriverAccess<A> && requires(A a, bool event_idx) {
  a.clear_used(event_idx);
};

}  // namespace vringlab
