// The core's access concepts on simulated memory: every operation moves real
// bytes and charges the core that runs it.
#pragma once

#include "core/memory/direct_access.h"
#include "sim/access/operations.h"
#include "sim/access/plan.h"
#include "sim/machine/io_domain.h"

namespace vringlab::sim {

// What one half of the ring tells the scheduler; cleared once delivered.
struct Doorbells {
  bool used_written = false;  // the used area was written where a guest may poll
  bool kick = false;          // the guest kicked
  std::uint64_t kick_ps = 0;  // when
  bool call = false;          // the device called
  std::uint64_t call_ps = 0;  // when
  bool resize = false;        // the guest shall resize the queue
  std::uint64_t resize_ps = 0;
  bool stopped = false;  // the device has let go of it
  std::uint64_t stopped_ps = 0;

  bool any() const { return used_written || kick || call || resize || stopped; }
};

// An IOMMU as the device's accesses to one queue see it. Buffers are looked up as they are
// translated; the ring's areas are touched between any two of them, so that their pages miss
// when the IOTLB was emptied and at no other time.
struct DeviceIommu {
  IoDomain* domain = nullptr;               // null: there is none
  std::uint32_t ring_pages = 0;             // that the ring's areas lie in
  std::uint64_t flushes_seen = UINT64_MAX;  // of the domain, when the ring's pages missed last
  std::uint64_t misses = 0;
};

// What all device-side accesses of one queue share. `core` may change: a kick
// may be served on the guest's own core.
struct DeviceContext {
  Core* core = nullptr;
  Doorbells* bells = nullptr;
  std::size_t variant = 0;             // ring_variant_base of the next ring operation
  unsigned open_scopes = 0;            // bit per Scope: a section is opened for it
  std::uint32_t user_page_shift = 21;  // log2 of the page size of guest memory
  bool unmapped = false;               // the plan's mappings can't be used now
  DeviceIommu iommu;

  bool opens_section(Scope scope) const {
    return (open_scopes & 1u << static_cast<unsigned>(scope)) != 0;
  }
  void set_unmapped(const AccessPlan& plan, bool now);
  void enter_section(Scope scope);
  void leave_section() { variant = ring_variant_base({.in_section = false, .unmapped = unmapped}); }
};

// Page numbers for the TLB: odd for the base pages that a mapping is made of, even
// for the guest's own pages, of whatever size.
constexpr std::uint32_t mapped_page(std::uint64_t offset) {
  return static_cast<std::uint32_t>(offset >> 12) * 2 + 1;
}
inline std::uint32_t user_page(const DeviceContext& context, std::uint64_t offset) {
  return static_cast<std::uint32_t>(offset >> context.user_page_shift) * 2;
}

// Bit per Scope: which open a section under `plan`, with its mappings or without.
unsigned section_scopes(const AccessPlan& plan, bool unmapped);

class ModelAccess {
 public:
  ModelAccess(DeviceContext& context, const RingAreas& areas, const AccessPlan& plan)
      : memory_(areas), context_(&context), areas_(areas), plan_(plan) {}

  std::uint16_t get_avail_idx() {
    read_avail(RingOp::kGetAvailIdx, Step::kAvailIndex, kRingIdxWord);
    return memory_.get_avail_idx();
  }
  std::uint16_t get_avail_head(std::uint16_t slot) {
    read_avail(RingOp::kGetAvailHead, Step::kAvailHead, kAvailRingWord + slot);
    return memory_.get_avail_head(slot);
  }
  std::uint16_t get_avail_flags() {
    read_avail(RingOp::kGetAvailFlags, Step::kCall, kRingFlagsWord);
    return memory_.get_avail_flags();
  }
  std::uint16_t get_used_event() {
    read_avail(RingOp::kGetUsedEvent, Step::kCall, used_event_word(areas_.size));
    return memory_.get_used_event();
  }
  std::uint16_t get_used_idx() {
    read(RingOp::kGetUsedIdx, areas_.used + kRingIdxWord, Step::kUsed, plan_.map_used);
    return memory_.get_used_idx();
  }
  Desc get_descriptor(std::uint16_t index) {
    read(RingOp::kGetDescriptor, areas_.desc + index, Step::kDescriptor, plan_.map_desc);
    return memory_.get_descriptor(index);
  }

  void put_used_elements(std::uint16_t slot, const UsedElem* elems, std::uint16_t count) {
    const UsedElem* first = areas_.used_ring() + slot;
    const std::size_t op = number(count == 1 ? RingOp::kPutUsedOne : RingOp::kPutUsedBlock);
    Core& core = *context_->core;
    core.begin(op);
    touch_page(core, core.offset_of(first), Step::kUsed, plan_.map_used);
    if (count > 1)
      core.copy_bytes(static_cast<std::uint32_t>(count * sizeof(UsedElem)), Step::kUsed);
    core.store_lines(core.line_of(first), core.line_of(first + count - 1), Step::kUsed);
    core.end(op);
    memory_.put_used_elements(slot, elems, count);
  }
  void put_used_flags(std::uint16_t flags) {
    write_used(RingOp::kPutUsedFlags, Step::kSuppress, kRingFlagsWord);
    memory_.put_used_flags(flags);
  }
  void put_used_idx(std::uint16_t idx) {
    write_used(RingOp::kPutUsedIdx, Step::kUsed, kRingIdxWord);
    memory_.put_used_idx(idx);
  }
  void put_avail_event(std::uint16_t idx) {
    write_used(RingOp::kPutAvailEvent, Step::kSuppress, avail_event_word(areas_.size));
    memory_.put_avail_event(idx);
  }

  void begin_section(Scope scope) {
    if (context_->opens_section(scope)) context_->enter_section(scope);
  }
  void end_section(Scope scope) {
    if (context_->opens_section(scope)) context_->leave_section();
  }

  template <OrderPoint P>
  void order() {
    if constexpr (P == OrderPoint::kDeviceEnableNotify) {
      context_->core->run(operation_index(Op::kEnableNotifyBarrier));
    } else if constexpr (P == OrderPoint::kDeviceCallDecision) {
      context_->core->run(operation_index(Op::kCallDecisionBarrier));
    }
  }

 private:
  std::size_t number(RingOp op) const { return context_->variant + static_cast<std::size_t>(op); }

  void touch_page(Core& core, std::uint64_t offset, Step step, bool mapped) {
    core.touch_page(
        mapped && !context_->unmapped ? mapped_page(offset) : user_page(*context_, offset), step);
  }
  // The core is looked up once: stores of bytes may change any pointer, as far as
  // the compiler knows.
  void read(RingOp ring_op, const void* p, Step step, bool mapped) {
    Core& core = *context_->core;
    const std::size_t op = number(ring_op);
    const std::uint64_t offset = core.offset_of(p);
    core.begin(op);
    touch_page(core, offset, step, mapped);
    core.load(line_at(offset), step);
    core.end(op);
  }
  void read_avail(RingOp op, Step step, std::size_t word) {
    read(op, areas_.avail + word, step, plan_.map_avail);
  }
  void write_used(RingOp ring_op, Step step, std::size_t word) {
    Core& core = *context_->core;
    const std::size_t op = number(ring_op);
    const std::uint64_t offset = core.offset_of(areas_.used + word);
    core.begin(op);
    touch_page(core, offset, step, plan_.map_used);
    core.store(line_at(offset), step);
    core.end(op);
    context_->bells->used_written = true;
  }

  DirectAccess memory_;
  DeviceContext* context_;
  RingAreas areas_;
  AccessPlan plan_;
};
static_assert(RingAccess<ModelAccess>);

class ModelPayload {
 public:
  ModelPayload(DeviceContext& context, const GuestMemory& memory)
      : memory_(memory), context_(&context) {}

  Result<std::size_t> translate(GuestAddr addr, std::uint32_t len, std::span<Piece> out) {
    context_->core->run(operation_index(Op::kTranslate));
    if (context_->iommu.domain != nullptr) return translate_io(addr, len, out);
    return memory_.translate(addr, len, out);
  }
  void copy_in(Transfer what, std::byte* host, const std::byte* source, std::uint32_t len) {
    Core& core = *context_->core;
    const Copy copy = copy_of(what);
    const std::uint64_t from = core.offset_of(source);
    core.begin(copy.op);
    core.touch_page(user_page(*context_, from), copy.step);
    core.load_lines(line_at(from), line_at(from + len - 1), copy.step);
    if (what != Transfer::kIndirect && core.simulated(host)) {
      const std::uint64_t to = core.offset_of(host);
      core.store_lines(line_at(to), line_at(to + len - 1), copy.step);
    }
    core.copy_bytes(len, copy.step);
    core.end(copy.op);
    memory_.copy_in(what, host, source, len);
  }
  // The source is the caller's, and so is the cost of reading it.
  void copy_out(Transfer what, std::byte* host, const std::byte* source, std::uint32_t len) {
    Core& core = *context_->core;
    const Copy copy = copy_of(what);
    const std::uint64_t to = core.offset_of(host);
    core.begin(copy.op);
    core.touch_page(user_page(*context_, to), copy.step);
    core.store_lines(line_at(to), line_at(to + len - 1), copy.step);
    core.copy_bytes(len, copy.step);
    core.end(copy.op);
    memory_.copy_out(what, host, source, len);
  }
  void begin_copies() {
    context_->core->run(operation_index(Op::kCopySection));
    in_section_ = true;
  }
  void end_copies() { in_section_ = false; }

 private:
  struct Copy {
    std::size_t op;
    Step step;
  };
  // Of I/O addresses, page by page; what is nowhere mapped is outside memory.
  Result<std::size_t> translate_io(GuestAddr addr, std::uint32_t len, std::span<Piece> out);
  std::uint32_t look_up(std::uint64_t page);
  void touch_ring();

  // A copy of at least one byte.
  Copy copy_of(Transfer what) const {
    constexpr Op kAlone[] = {Op::kIndirectCopy, Op::kHeaderCopy, Op::kPayloadCopy};
    constexpr Op kInSection[] = {Op::kIndirectCopy, Op::kHeaderCopyInSection,
                                 Op::kPayloadCopyInSection};
    constexpr Step kStepOf[] = {Step::kDescriptor, Step::kHeaderCopy, Step::kPayloadCopy};
    const auto i = static_cast<std::size_t>(what);
    return {operation_index((in_section_ ? kInSection : kAlone)[i]), kStepOf[i]};
  }

  DirectPayload memory_;
  DeviceContext* context_;
  bool in_section_ = false;
};
static_assert(PayloadAccess<ModelPayload>);

// The guest's half: plain loads and stores on its own core.
class ModelDriverAccess {
 public:
  ModelDriverAccess(Core& core, const RingAreas& areas)
      : memory_(areas), core_(&core), areas_(areas) {}

  // The core that runs the driver from now on.
  void run_on(Core& core) { core_ = &core; }

  void put_descriptor(std::uint16_t index, const Desc& desc) {
    store(areas_.desc + index, Step::kGuestFill);
    memory_.put_descriptor(index, desc);
  }
  void put_indirect(Desc* entry, const Desc& desc) {
    store(entry, Step::kGuestFill);
    memory_.put_indirect(entry, desc);
  }
  void put_avail_head(std::uint16_t slot, std::uint16_t head) {
    store(areas_.avail + kAvailRingWord + slot, Step::kGuestFill);
    memory_.put_avail_head(slot, head);
  }
  void put_avail_idx(std::uint16_t idx) {
    core_->run(operation_index(Op::kGuestPublish));
    store(areas_.avail + kRingIdxWord, Step::kGuestPublish);
    memory_.put_avail_idx(idx);
  }
  void put_avail_flags(std::uint16_t flags) {
    store(areas_.avail + kRingFlagsWord, Step::kGuestInterrupt);
    memory_.put_avail_flags(flags);
  }
  void put_used_event(std::uint16_t idx) {
    store(areas_.avail + used_event_word(areas_.size), Step::kGuestInterrupt);
    memory_.put_used_event(idx);
  }
  void clear_used(bool event_idx) {
    store(areas_.used + kRingIdxWord, Step::kGuestReset);  // flags are in the same line
    if (event_idx) store(areas_.used + avail_event_word(areas_.size), Step::kGuestReset);
    memory_.clear_used(event_idx);
  }
  std::uint16_t get_used_idx() {
    core_->run(operation_index(Op::kGuestReap));
    load(areas_.used + kRingIdxWord, Step::kGuestReap);
    return memory_.get_used_idx();
  }
  UsedElem get_used_element(std::uint16_t slot) {
    core_->run(operation_index(Op::kGuestReap));
    load(areas_.used_ring() + slot, Step::kGuestReap);
    return memory_.get_used_element(slot);
  }
  std::uint16_t get_used_flags() {
    load(areas_.used + kRingFlagsWord, Step::kGuestKick);
    return memory_.get_used_flags();
  }
  std::uint16_t get_avail_event() {
    load(areas_.used + avail_event_word(areas_.size), Step::kGuestKick);
    return memory_.get_avail_event();
  }
  template <OrderPoint P>
  void order() {
    if constexpr (P == OrderPoint::kDriverKickDecision) {
      core_->run(operation_index(Op::kGuestKickDecision));
    } else if constexpr (P == OrderPoint::kDriverEnableCallback) {
      core_->run(operation_index(Op::kGuestArmCall));
    }
  }

 private:
  void store(const void* p, Step step) { core_->store(core_->line_of(p), step); }
  void load(const void* p, Step step) { core_->load(core_->line_of(p), step); }

  DirectDriverAccess memory_;
  Core* core_;
  RingAreas areas_;
};
static_assert(ResettableDriverAccess<ModelDriverAccess>);

}  // namespace vringlab::sim
