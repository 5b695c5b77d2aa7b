#include "core/driver/driver_ring.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "core/memory/direct_access.h"
#include "tests/double/raw_guest.h"

namespace vringlab {
namespace {

using test::kEventIdx;
using test::kIndirect;
using test::RawGuest;
using test::RawRing;

constexpr std::uint64_t kTables = 0x4000;
constexpr std::uint16_t kTableEntries = 4;
constexpr std::array kBuffers = {Buffer{{0x8000}, 10}, Buffer{{0x9000}, 20}, Buffer{{0xa000}, 30},
                                 Buffer{{0xb000}, 40}, Buffer{{0xc000}, 50}};

std::span<const Buffer> buffers(std::size_t count) { return std::span(kBuffers).first(count); }

// The driver's half alone; the test plays the device with raw writes.
struct Driver {
  RawGuest guest{{{0, 0x10000}}};
  RawRing ring;
  DriverRing<DirectDriverAccess> driver;

  explicit Driver(std::uint32_t size, std::uint64_t features = 0)
      : ring(guest, size, features),
        driver(DirectDriverAccess(ring.areas), ring.config,
               {{kTables}, reinterpret_cast<Desc*>(&guest.byte(kTables)), kTableEntries}) {}

  std::uint16_t add(std::size_t readable, std::size_t writable, Token token) {
    const auto head = driver.add(buffers(readable), buffers(writable), token);
    EXPECT_TRUE(head.ok()) << describe(head.error());
    return head.value();
  }
  RingError add_error(std::size_t readable, std::size_t writable) {
    return driver.add(buffers(readable), buffers(writable), 0).error();
  }
  Desc table(std::uint16_t head, std::size_t entry) {
    Desc desc;
    std::memcpy(&desc, &guest.byte(kTables + (head * kTableEntries + entry) * sizeof(Desc)),
                sizeof(desc));
    return desc;
  }
  RingError broken() const { return driver.state().broken; }
};

TEST(DriverAdd, writes_a_direct_chain_readable_first) {
  Driver d(8);
  EXPECT_EQ(d.add(1, 2, 5), 0);
  EXPECT_EQ(d.ring.desc(0), (Desc{0x8000, 10, kDescNext, 1}));
  EXPECT_EQ(d.ring.desc(1), (Desc{0x8000, 10, kDescNext | kDescWrite, 2}));
  EXPECT_EQ(d.ring.desc(2).addr, 0x9000u);
  EXPECT_EQ(d.ring.desc(2).flags, kDescWrite);
  EXPECT_EQ(d.add(1, 0, 6), 3);
  EXPECT_EQ(d.ring.desc(3).flags, 0);
  EXPECT_EQ(d.ring.avail(0), 0);
  EXPECT_EQ(d.ring.avail(1), 3);
  EXPECT_EQ(d.driver.state().free_count, 4);
  EXPECT_EQ(d.driver.state().in_flight, 2);
}

TEST(DriverAdd, is_seen_only_after_publish) {
  Driver d(8);
  d.add(1, 0, 1);
  d.add(1, 0, 2);
  EXPECT_EQ(d.ring.avail_idx(), 0);
  d.driver.publish();
  EXPECT_EQ(d.ring.avail_idx(), 2);
}

TEST(DriverAdd, takes_the_last_descriptor_and_no_more) {
  Driver d(4);
  d.add(2, 0, 1);
  EXPECT_EQ(d.add_error(3, 0), RingError::kRingFull);
  EXPECT_EQ(d.driver.state().free_count, 2);
  d.add(1, 1, 2);
  EXPECT_EQ(d.driver.state().free_count, 0);
  EXPECT_EQ(d.add_error(1, 0), RingError::kRingFull);
  EXPECT_EQ(d.add_error(0, 0), RingError::kEmptyChain);
}

TEST(DriverAdd, indirect_takes_one_descriptor_and_its_own_table) {
  Driver d(4, kIndirect);
  d.add(1, 0, 1);  // a single buffer needs no table
  EXPECT_EQ(d.ring.desc(0), (Desc{0x8000, 10, 0, 1}));
  const std::uint16_t head = d.add(2, 2, 2);
  EXPECT_EQ(head, 1);
  EXPECT_EQ(d.ring.desc(1), (Desc{kTables + 64, 64, kDescIndirect, 0}));
  EXPECT_EQ(d.table(1, 0), (Desc{0x8000, 10, kDescNext, 1}));
  EXPECT_EQ(d.table(1, 1), (Desc{0x9000, 20, kDescNext, 2}));
  EXPECT_EQ(d.table(1, 2), (Desc{0x8000, 10, kDescNext | kDescWrite, 3}));
  EXPECT_EQ(d.table(1, 3), (Desc{0x9000, 20, kDescWrite, 4}));
  EXPECT_EQ(d.driver.state().free_count, 2);
}

TEST(DriverAdd, more_than_a_table_holds_goes_direct) {
  Driver d(8, kIndirect);
  d.add(5, 0, 1);
  EXPECT_EQ(d.ring.desc(0).flags, kDescNext);
  EXPECT_EQ(d.driver.state().free_count, 3);
}

TEST(DriverAdd, indirect_needs_a_descriptor) {
  Driver d(1, kIndirect);
  d.add(2, 0, 1);
  EXPECT_EQ(d.add_error(2, 0), RingError::kRingFull);
}

TEST(DriverReap, nothing_before_the_device_says_so) {
  Driver d(4);
  EXPECT_FALSE(d.driver.reap());
  d.add(1, 0, 1);
  d.driver.publish();
  EXPECT_FALSE(d.driver.reap());
  EXPECT_EQ(d.broken(), RingError::kNone);
}

TEST(DriverReap, i06_frees_by_id_in_whatever_order) {
  Driver d(8);
  const std::uint16_t a = d.add(1, 0, 'A');
  const std::uint16_t b = d.add(2, 0, 'B');
  const std::uint16_t c = d.add(3, 0, 'C');
  d.driver.publish();
  EXPECT_EQ(d.driver.state().free_count, 2);
  for (const std::uint16_t head : {c, a, b}) d.ring.complete(head, 0);
  EXPECT_EQ(d.driver.reap()->token, Token{'C'});
  EXPECT_EQ(d.driver.state().free_count, 5);
  EXPECT_EQ(d.driver.reap()->token, Token{'A'});
  EXPECT_EQ(d.driver.state().free_count, 6);
  EXPECT_EQ(d.driver.reap()->token, Token{'B'});
  EXPECT_EQ(d.driver.state().free_count, 8);
  EXPECT_FALSE(d.driver.reap());
}

TEST(DriverReap, i06_freed_descriptors_are_each_used_once) {
  Driver d(8);
  const std::uint16_t a = d.add(3, 0, 1);
  d.add(2, 0, 2);
  const std::uint16_t c = d.add(3, 0, 3);
  d.driver.publish();
  d.ring.complete(c, 0);
  d.ring.complete(a, 0);
  d.driver.reap();
  d.driver.reap();
  std::set<std::uint16_t> heads = {3};  // the chain still in flight is 3, 4
  for (Token i = 0; i < 6; ++i) EXPECT_TRUE(heads.insert(d.add(1, 0, i)).second);
  EXPECT_FALSE(heads.contains(4));
  EXPECT_EQ(d.driver.state().free_count, 0);
}

// One chain of the given buffers; the device says it wrote `len` bytes.
std::optional<Completion> reap_after(Driver& d, std::size_t readable, std::size_t writable,
                                     std::uint32_t len) {
  const std::uint16_t head = d.add(readable, writable, 7);
  d.driver.publish();
  d.ring.complete(head, len);
  return d.driver.reap();
}

TEST(HostileUsed, i07_length_is_what_the_device_wrote) {
  for (const std::uint64_t features : {std::uint64_t{0}, kIndirect}) {
    Driver tx(8, features);
    EXPECT_EQ(reap_after(tx, 2, 0, 0)->written_bytes, 0u);
    Driver read(8, features);  // 10 readable; 10 and 20 writable
    EXPECT_EQ(reap_after(read, 1, 2, 30)->written_bytes, 30u);
  }
}

TEST(HostileUsed, i08_length_is_capacity_plus_one) {
  for (const std::uint64_t features : {std::uint64_t{0}, kIndirect}) {
    Driver tx(8, features);
    EXPECT_FALSE(reap_after(tx, 2, 0, 1));
    EXPECT_EQ(tx.broken(), RingError::kUsedLength);
    Driver read(8, features);
    EXPECT_FALSE(reap_after(read, 1, 2, 31));
    EXPECT_EQ(read.broken(), RingError::kUsedLength);
  }
}

TEST(HostileUsed, i08_id_outside_the_table) {
  for (const std::uint32_t id : {8u, 0xffffu, 0x10000u, 0xffffffffu}) {
    Driver d(8);
    d.add(1, 0, 1);
    d.driver.publish();
    d.ring.complete(id, 0);
    EXPECT_FALSE(d.driver.reap());
    EXPECT_EQ(d.broken(), RingError::kUsedIdOutOfRange);
  }
}

TEST(HostileUsed, i08_id_not_in_flight) {
  Driver d(8);
  d.add(2, 0, 1);
  d.driver.publish();
  d.ring.complete(1, 0);  // inside the chain, but no head
  EXPECT_FALSE(d.driver.reap());
  EXPECT_EQ(d.broken(), RingError::kUsedIdNotInFlight);
}

TEST(HostileUsed, i08_same_id_twice) {
  Driver d(8);
  d.add(1, 0, 1);
  d.add(1, 0, 2);
  d.driver.publish();
  d.ring.complete(0, 0);
  d.ring.complete(0, 0);
  EXPECT_EQ(d.driver.reap()->token, 1u);
  EXPECT_FALSE(d.driver.reap());
  EXPECT_EQ(d.broken(), RingError::kUsedIdNotInFlight);
  EXPECT_EQ(d.driver.state().free_count, 7);
}

TEST(HostileUsed, i08_index_ahead_of_what_is_in_flight) {
  for (const int idx : {3, 0x8000, 65535}) {
    Driver d(8);
    d.add(1, 0, 1);
    d.add(1, 0, 2);
    d.driver.publish();
    d.ring.used_idx() = static_cast<std::uint16_t>(idx);
    EXPECT_FALSE(d.driver.reap());
    EXPECT_EQ(d.broken(), RingError::kUsedIndexAhead) << idx;
  }
}

// Nobody spins on a broken queue, and nothing it says is believed.
TEST(HostileUsed, i09_a_broken_queue_has_no_work) {
  for (const std::uint64_t features : {std::uint64_t{0}, kEventIdx}) {
    Driver d(8, features);
    d.add(1, 0, 1);
    d.driver.publish();
    d.ring.used_idx() = 2;
    EXPECT_FALSE(d.driver.reap());
    d.ring.used_idx() = 1;
    EXPECT_FALSE(d.driver.reap());
    EXPECT_FALSE(d.driver.enable_callback());
    EXPECT_FALSE(d.driver.enable_callback_delayed());
    EXPECT_EQ(d.add_error(1, 0), RingError::kQueueBroken);
    EXPECT_EQ(d.driver.detach_unused(), Token{1});  // what was in flight comes back all the same
  }
}

TEST(DriverKicks, flags) {
  Driver d(4);
  d.add(1, 0, 1);
  d.driver.publish();
  EXPECT_TRUE(d.driver.kick_needed());
  d.ring.used_flags() = kUsedNoNotify;
  EXPECT_FALSE(d.driver.kick_needed());
  d.ring.used_flags() = static_cast<std::uint16_t>(~kUsedNoNotify);
  EXPECT_TRUE(d.driver.kick_needed());
}

TEST(DriverKicks, event_index_counts_from_the_last_decision) {
  Driver d(8, kEventIdx);
  d.ring.avail_event() = 2;
  d.ring.used_flags() = kUsedNoNotify;  // means nothing here
  d.add(1, 0, 1);
  d.add(1, 0, 2);
  d.driver.publish();
  EXPECT_FALSE(d.driver.kick_needed());
  d.add(1, 0, 3);
  EXPECT_FALSE(d.driver.kick_needed());  // added, not yet published
  d.driver.publish();
  EXPECT_TRUE(d.driver.kick_needed());
  EXPECT_FALSE(d.driver.kick_needed());
  d.add(1, 0, 4);
  d.driver.publish();
  EXPECT_FALSE(d.driver.kick_needed());
}

TEST(DriverKicks, a_decision_covers_all_publishes_since_the_last) {
  Driver d(8, kEventIdx);
  d.ring.avail_event() = 0;
  for (Token token = 0; token < 3; ++token) {
    d.add(1, 0, token);
    d.driver.publish();
  }
  EXPECT_TRUE(d.driver.kick_needed());
}

TEST(DriverCalls, flags_are_set_and_cleared) {
  Driver d(4);
  d.driver.disable_callback();
  EXPECT_EQ(d.ring.avail_flags(), kAvailNoInterrupt);
  EXPECT_FALSE(d.driver.enable_callback());
  EXPECT_EQ(d.ring.avail_flags(), 0);
}

// n1, one thread's worth: the device published before the driver looked again, so
// enable_callback itself must say so. All interleavings: tests/order.
TEST(DriverCalls, n01_a_completion_before_enabling_is_seen) {
  for (const std::uint64_t features : {std::uint64_t{0}, kEventIdx}) {
    Driver d(4, features);
    const std::uint16_t head = d.add(1, 0, 1);
    d.driver.publish();
    d.driver.disable_callback();
    EXPECT_FALSE(d.driver.reap());
    d.ring.complete(head, 0);
    EXPECT_TRUE(d.driver.enable_callback());
    EXPECT_TRUE(d.driver.reap());
    EXPECT_FALSE(d.driver.enable_callback());
  }
}

TEST(DriverCalls, event_is_the_next_element) {
  Driver d(4, kEventIdx);
  const std::uint16_t head = d.add(1, 0, 1);
  d.driver.publish();
  d.ring.complete(head, 0);
  d.driver.reap();
  d.driver.enable_callback();
  EXPECT_EQ(d.ring.used_event(), 1);
}

TEST(DriverCalls, a_disabled_event_lies_behind) {
  Driver d(4, kEventIdx);
  d.driver.disable_callback();
  EXPECT_EQ(d.ring.used_event(), 65535);
  EXPECT_EQ(d.ring.avail_flags(), 0);
  for (std::uint16_t idx = 0; idx < 4; ++idx)
    EXPECT_FALSE(need_event(d.ring.used_event(), static_cast<std::uint16_t>(idx + 1), idx));
}

TEST(DriverCalls, delayed_waits_for_three_quarters) {
  Driver d(8, kEventIdx);
  for (Token token = 0; token < 8; ++token) d.add(1, 0, token);
  d.driver.publish();
  EXPECT_FALSE(d.driver.enable_callback_delayed());
  EXPECT_EQ(d.ring.used_event(), 6);  // passed when element 7 of 8 is there
  for (std::uint32_t id = 0; id < 6; ++id) d.ring.complete(id, 0);
  EXPECT_FALSE(d.driver.enable_callback_delayed());
  d.ring.complete(6, 0);
  EXPECT_TRUE(d.driver.enable_callback_delayed());
}

TEST(DriverCalls, delayed_by_flags_asks_for_the_next) {
  Driver d(8);
  for (Token token = 0; token < 8; ++token) d.add(1, 0, token);
  d.driver.publish();
  d.driver.disable_callback();
  for (std::uint32_t id = 0; id < 6; ++id) d.ring.complete(id, 0);
  EXPECT_FALSE(d.driver.enable_callback_delayed());
  EXPECT_EQ(d.ring.avail_flags(), 0);
  d.ring.complete(6, 0);
  EXPECT_TRUE(d.driver.enable_callback_delayed());
}

TEST(DriverDetach, d06_every_token_once_then_none) {
  Driver d(8);
  const std::uint16_t first = d.add(2, 0, 1);
  d.add(1, 1, 2);
  d.add(1, 0, 3);
  d.driver.publish();
  d.ring.complete(first, 0);
  EXPECT_EQ(d.driver.reap()->token, 1u);
  std::set<Token> tokens;
  while (const auto token = d.driver.detach_unused()) EXPECT_TRUE(tokens.insert(*token).second);
  EXPECT_EQ(tokens, (std::set<Token>{2, 3}));
  EXPECT_FALSE(d.driver.detach_unused());
  EXPECT_EQ(d.driver.state().free_count, 8);
  EXPECT_EQ(d.driver.state().in_flight, 0);
}

TEST(DriverDetach, d06_finds_what_was_added_after_it) {
  Driver d(8);
  d.add(1, 0, 1);
  EXPECT_EQ(d.driver.detach_unused(), Token{1});
  EXPECT_FALSE(d.driver.detach_unused());
  d.add(1, 0, 2);
  EXPECT_EQ(d.driver.detach_unused(), Token{2});
}

TEST(DriverReset, d05_starts_at_zero_in_the_same_memory) {
  for (const std::uint64_t features : {std::uint64_t{0}, kEventIdx}) {
    Driver d(4, features);
    for (Token token = 0; token < 17; ++token) {
      const std::uint16_t head = d.add(1, 0, token);
      d.driver.publish();
      d.ring.complete(head, 0);
      d.driver.reap();
    }
    d.driver.disable_callback();
    d.add(2, 0, 17);
    d.ring.used_flags() = kUsedNoNotify;
    if (features != 0) d.ring.avail_event() = 17;
    d.driver.reset();
    EXPECT_EQ(d.ring.avail_idx(), 0);
    EXPECT_EQ(d.ring.avail_flags(), 0);
    EXPECT_EQ(d.driver.state().free_count, 4);
    EXPECT_EQ(d.driver.state().in_flight, 0);
    EXPECT_FALSE(d.driver.detach_unused());
    // A new life: the old used index is no completion, the old event no reason not to kick.
    const std::uint16_t head = d.add(1, 0, 99);
    EXPECT_EQ(head, 0);
    EXPECT_EQ(d.ring.avail(0), 0);
    d.driver.publish();
    EXPECT_TRUE(d.driver.kick_needed());
    EXPECT_FALSE(d.driver.reap());
    d.ring.complete(head, 0);
    EXPECT_EQ(d.ring.used_idx(), 1);
    ASSERT_EQ(d.broken(), RingError::kNone);
    EXPECT_EQ(d.driver.reap()->token, 99u);
  }
}

TEST(DriverReset, leaves_the_word_behind_the_used_ring_alone_without_event_idx) {
  Driver d(4);
  d.ring.avail_event() = 0x1234;  // no part of the ring: it may be anybody's
  d.driver.reset();
  EXPECT_EQ(d.ring.avail_event(), 0x1234);
}

TEST(DriverStart, both_indices_wrap) {
  Driver d(2);
  d.ring.used_idx() = 65535;
  d.driver.start(65535);
  for (Token token = 0; token < 3; ++token) {
    const std::uint16_t head = d.add(1, 0, token);
    d.driver.publish();
    d.ring.complete(head, 0);
    ASSERT_TRUE(d.driver.reap()) << token;
  }
  EXPECT_EQ(d.ring.avail_idx(), 2);
}

}  // namespace
}  // namespace vringlab
