// What a fuzzed device queue stands before: a guest that writes what it likes, and
// a ledger of what the device does to its ring.
#pragma once

#include <set>
#include <vector>

#include "core/memory/direct_access.h"
#include "core/ring/device_ring.h"
#include "tests/double/hostile_chains.h"
#include "tests/fuzz/input.h"

namespace vringlab::test {

// First byte of an input.
struct GuestConfig {
  bool event_idx;
  bool indirect;
  bool third;  // each fuzzer's own: copies batched, or buffers mergeable
  Layout layout;
  std::uint16_t size;

  explicit GuestConfig(std::uint8_t bits)
      : event_idx((bits & 1) != 0),
        indirect((bits & 2) != 0),
        third((bits & 4) != 0),
        layout(static_cast<Layout>((bits >> 3 & 7) % kLayouts)),
        size(static_cast<std::uint16_t>(8 >> (bits >> 6))) {}
  static std::uint8_t encode(std::uint64_t features, Layout layout) {
    return static_cast<std::uint8_t>(((features & kEventIdx) != 0 ? 1 : 0) |
                                     ((features & kIndirect) != 0 ? 2 : 0) |
                                     static_cast<int>(layout) << 3);
  }
  std::uint64_t features() const {
    return (event_idx ? kEventIdx : 0) | (indirect ? kIndirect : 0);
  }
};

// Follows each head from the avail ring to the used ring, without asking the engine.
struct HeadLedger {
  std::uint16_t size = 0;
  std::set<std::uint32_t> held;        // fetched, not yet returned
  std::vector<std::uint16_t> fetched;  // in this step, in order
  bool bad_head = false;               // the last avail entry is no head that can be taken
  std::uint16_t used_idx = 0;          // what used.idx must be after the next publish
  std::uint64_t copied_out = 0;        // bytes written to buffers, not yet published
  std::uint64_t claimed = 0;           // what used elements say, not yet published
  std::uint32_t descriptor_reads = 0;  // in this step
  std::uint32_t table_bytes = 0;       // in this step

  void start_step() {
    fetched.clear();
    bad_head = false;
    descriptor_reads = table_bytes = 0;
  }
  // The device gave the last `count` heads back unfetched.
  void discard(std::size_t count) {
    require(count <= fetched.size(), "no more is discarded than was fetched");
    for (; count > 0; --count) {
      held.erase(fetched.back());
      fetched.pop_back();
    }
  }
  // A new queue whose used ring stands at `used`.
  void restart(std::uint16_t used) {
    held.clear();
    used_idx = used;
    copied_out = claimed = 0;
  }
};

class LedgerAccess : public DirectAccess {
 public:
  LedgerAccess(const RingAreas& areas, HeadLedger& ledger)
      : DirectAccess(areas), ledger_(&ledger) {}

  std::uint16_t get_avail_head(std::uint16_t slot) const {
    require(slot < ledger_->size, "avail slot inside the ring");
    const std::uint16_t head = DirectAccess::get_avail_head(slot);
    ledger_->bad_head = head >= ledger_->size || !ledger_->held.insert(head).second;
    if (!ledger_->bad_head) ledger_->fetched.push_back(head);
    return head;
  }
  Desc get_descriptor(std::uint16_t index) const {
    require(index < ledger_->size, "descriptor inside the table");
    ++ledger_->descriptor_reads;
    return DirectAccess::get_descriptor(index);
  }
  void put_used_elements(std::uint16_t slot, const UsedElem* elems, std::uint16_t count) {
    require(slot + count <= ledger_->size, "used elements inside the ring");
    for (std::uint16_t i = 0; i < count; ++i) {
      require(ledger_->held.erase(elems[i].id) == 1, "a head is returned once, and was fetched");
      ledger_->claimed += elems[i].len;
    }
    ledger_->used_idx = static_cast<std::uint16_t>(ledger_->used_idx + count);
    DirectAccess::put_used_elements(slot, elems, count);
  }
  void put_used_idx(std::uint16_t idx) {
    require(idx == ledger_->used_idx, "used.idx counts the elements");
    require(ledger_->claimed == ledger_->copied_out, "used elements say what was written");
    ledger_->claimed = ledger_->copied_out = 0;
    DirectAccess::put_used_idx(idx);
  }

 private:
  HeadLedger* ledger_;
};

class LedgerPayload : public DirectPayload {
 public:
  LedgerPayload(const GuestMemory& memory, HeadLedger& ledger)
      : DirectPayload(memory), ledger_(&ledger) {}

  void copy_in(Transfer what, std::byte* host, const std::byte* source, std::uint32_t len) {
    if (what == Transfer::kIndirect) ledger_->table_bytes += len;
    DirectPayload::copy_in(what, host, source, len);
  }
  void copy_out(Transfer what, std::byte* host, const std::byte* source, std::uint32_t len) {
    ledger_->copied_out += len;
    DirectPayload::copy_out(what, host, source, len);
  }

 private:
  HeadLedger* ledger_;
};

// Guest memory and ring, written by an input's operations.
struct HostileGuest {
  GuestConfig config;
  HeadLedger ledger;
  RawGuest memory;
  RawRing ring;

  explicit HostileGuest(std::uint8_t bits)
      : config(bits),
        memory(regions_of(config.layout)),
        ring(memory, config.size, config.features()) {
    ledger.size = config.size;
  }

  DeviceRing<LedgerAccess, LedgerPayload> device() {
    return {LedgerAccess(ring.areas, ledger), LedgerPayload(memory.memory(), ledger), ring.config};
  }

  // u24 address, u8 count, bytes.
  void write(Input& input) {
    std::uint32_t addr = input.u16();
    addr |= static_cast<std::uint32_t>(input.u8()) << 16;
    for (std::uint32_t left = input.u8(); left > 0; --left, ++addr) {
      const std::byte value{input.u8()};
      if (memory.holds(addr)) memory.byte(addr) = value;
    }
  }
  // u8 index, u32 addr, u32 len, u8 flags, u8 next.
  void describe_buffer(Input& input) {
    const std::size_t index = input.u8();
    Desc& desc = ring.desc(index % config.size);
    desc.addr = input.u32();
    desc.len = input.u32();
    desc.flags = input.u8();
    desc.next = input.u8();
  }
};

}  // namespace vringlab::test
