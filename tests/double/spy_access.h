// The device's access to plain memory, counted, with a hook for a driver that
// rewrites what the device has just read.
#pragma once

#include <functional>
#include <vector>

#include "core/memory/direct_access.h"

namespace vringlab::test {

struct Spy {
  std::vector<std::uint32_t> descriptor_reads = std::vector<std::uint32_t>(kMaxQueueSize);
  std::uint32_t avail_idx_reads = 0;
  std::uint32_t used_blocks = 0;  // calls of put_used_elements
  std::uint32_t used_idx_writes = 0;
  std::uint32_t used_flag_writes = 0;
  std::uint32_t indirect_copies = 0;  // pieces of table entries copied in
  std::uint32_t copy_sections = 0;    // begin_copies
  std::function<void(std::uint16_t index)> after_descriptor = [](std::uint16_t) {};
  std::function<void(const std::byte* source)> after_indirect = [](const std::byte*) {};
};

class SpyAccess : public DirectAccess {
 public:
  SpyAccess(const RingAreas& areas, Spy& spy) : DirectAccess(areas), spy_(&spy) {}

  std::uint16_t get_avail_idx() const {
    ++spy_->avail_idx_reads;
    return DirectAccess::get_avail_idx();
  }
  Desc get_descriptor(std::uint16_t index) const {
    const Desc desc = DirectAccess::get_descriptor(index);
    ++spy_->descriptor_reads[index];
    spy_->after_descriptor(index);
    return desc;
  }
  void put_used_elements(std::uint16_t slot, const UsedElem* elems, std::uint16_t count) {
    ++spy_->used_blocks;
    DirectAccess::put_used_elements(slot, elems, count);
  }
  void put_used_idx(std::uint16_t idx) {
    ++spy_->used_idx_writes;
    DirectAccess::put_used_idx(idx);
  }
  void put_used_flags(std::uint16_t flags) {
    ++spy_->used_flag_writes;
    DirectAccess::put_used_flags(flags);
  }

 private:
  Spy* spy_;
};
static_assert(RingAccess<SpyAccess>);

class SpyPayload : public DirectPayload {
 public:
  SpyPayload(const GuestMemory& memory, Spy& spy) : DirectPayload(memory), spy_(&spy) {}

  void copy_in(Transfer what, std::byte* host, const std::byte* source, std::uint32_t len) {
    DirectPayload::copy_in(what, host, source, len);
    if (what != Transfer::kIndirect) return;
    ++spy_->indirect_copies;
    spy_->after_indirect(source);
  }
  void begin_copies() { ++spy_->copy_sections; }

 private:
  Spy* spy_;
};
static_assert(PayloadAccess<SpyPayload>);

}  // namespace vringlab::test
