#include "sim/access/operations.h"

namespace vringlab::sim {
namespace {

// Collects the parts of one operation.
class Builder {
 public:
  Builder(Step step, const CostModel& costs) : costs_(costs) { operation_.step = step; }

  Builder& part(Cost cost, std::uint64_t count = 1) {
    const std::uint64_t ps = costs_[cost] * count;
    if (ps > 0) {
      const std::uint64_t after = straddles(cost) ? ps / 2 : 0;
      add(operation_.step, cost, ps - after, count);
      operation_.parts.back().ps += after;
      operation_.tail_ps += after;
    }
    return *this;
  }
  // Half of one occurrence, under a step of its own; the second half counts it.
  Builder& half_of(Step step, Cost cost, bool second) {
    const std::uint64_t ps = costs_[cost];
    if (ps > 0) add(step, cost, second ? ps - ps / 2 : ps / 2, second ? 1 : 0);
    return *this;
  }
  Builder& drains(bool yes = true) {
    operation_.drains = operation_.drains || yes;
    return *this;
  }
  operator Operation() const { return operation_; }  // NOLINT: reads as the operation it builds

 private:
  // Costs that come in two halves, before and after the access: access is allowed
  // and forbidden again, the iterator set up and advanced.
  static bool straddles(Cost cost) { return cost == Cost::kStacClac || cost == Cost::kIovIter; }

  void add(Step step, Cost cost, std::uint64_t ps, std::uint64_t count) {
    operation_.parts.push_back({step, cost, ps, count});
    operation_.lead_ps += ps;
  }

  const CostModel& costs_;
  Operation operation_;
};

enum class Area : std::uint8_t { kDesc, kAvail, kUsed };

// The shape of one ring operation.
struct RingShape {
  Step step;
  Area area;
  bool read;            // a read is followed by the speculation barrier
  std::uint64_t words;  // loads or stores
};

constexpr RingShape kShapes[kRingOps] = {
    {Step::kAvailIndex, Area::kAvail, true, 1},  // kGetAvailIdx
    {Step::kAvailHead, Area::kAvail, true, 1},   // kGetAvailHead
    {Step::kCall, Area::kAvail, true, 1},        // kGetAvailFlags
    {Step::kCall, Area::kAvail, true, 1},        // kGetUsedEvent
    {Step::kUsed, Area::kUsed, true, 1},         // kGetUsedIdx
    {Step::kDescriptor, Area::kDesc, true, 2},   // kGetDescriptor: 16 bytes inline
    {Step::kUsed, Area::kUsed, false, 1},        // kPutUsedOne
    {Step::kUsed, Area::kUsed, false, 0},        // kPutUsedBlock
    {Step::kSuppress, Area::kUsed, false, 1},    // kPutUsedFlags
    {Step::kUsed, Area::kUsed, false, 1},        // kPutUsedIdx
    {Step::kSuppress, Area::kUsed, false, 1},    // kPutAvailEvent
};

class TableBuilder {
 public:
  TableBuilder(const AccessPlan& plan, const KernelPreset& kernel, const CostModel& costs,
               const SinkCosts& sink)
      : plan_(plan), kernel_(kernel), costs_(costs), sink_(sink) {}

  Operation ring(RingOp op, RingVariant variant) const {
    const RingShape& shape = kShapes[static_cast<std::size_t>(op)];
    Builder b(shape.step, costs_);
    if (op == RingOp::kPutUsedBlock) return block(b, shape, variant);
    if (op == RingOp::kPutUsedOne && plan_.used_element == UsedElement::kBlock &&
        !is_mapped(shape.area, variant))
      return block(b, shape, variant);
    // Two word writes are two accesses, each with all that comes with one.
    const bool two_words =
        op == RingOp::kPutUsedOne && plan_.used_element == UsedElement::kTwoWords;
    access(b, shape, variant);
    if (two_words) access(b, shape, variant);
    return b;
  }

  Operation other(Op op) const;
  Operation block_device(Op op) const;
  Operation application(Op op) const;

 private:
  bool is_mapped(Area area, RingVariant variant) const {
    if (variant.unmapped) return false;
    switch (area) {
      case Area::kDesc:
        return plan_.map_desc;
      case Area::kAvail:
        return plan_.map_avail;
      default:
        return plan_.map_used;
    }
  }
  bool sections() const {
    return plan_.user_access == UserAccess::kSection ||
           plan_.user_access == UserAccess::kSharedFixup;
  }

  // One access by the plan: through the mapping, or as user memory.
  void access(Builder& b, const RingShape& shape, RingVariant variant) const {
    if (is_mapped(shape.area, variant)) {
      guard(b);
    } else if (!variant.in_section) {
      enter_user(b, shape.read || sections());
    }
    if (!is_mapped(shape.area, variant)) fixup(b);
    b.part(Cost::kPlainAccess, shape.words);
  }

  // What lets the kernel touch user memory, once: toggles, check, barrier. A
  // store by put_user needs no speculation barrier; opening a section does.
  void enter_user(Builder& b, bool barrier) const {
    b.part(Cost::kStacClac);
    if (plan_.user_access == UserAccess::kMasked) {
      b.part(Cost::kAddressMask);
      return;
    }
    b.part(Cost::kAccessOk);
    if (barrier && kernel_.nospec) b.part(Cost::kLfenceFloor).drains();
  }

  void fixup(Builder& b) const {
    if (plan_.user_access != UserAccess::kSharedFixup) b.part(Cost::kSeparateFixup);
  }

  void guard(Builder& b) const {
    switch (plan_.guard) {
      case Guard::kNone:
        break;
      case Guard::kRcu:
        b.part(Cost::kRcuRead);
        break;
      case Guard::kCounter:
        b.part(Cost::kPlainAccess, 2).part(Cost::kFullBarrier, 2).drains();
        break;
      case Guard::kSpinlock:
        b.part(Cost::kSpinLock).drains();
        break;
      case Guard::kAtomic:
        b.part(Cost::kAtomicRmw, 2).drains();
        break;
    }
  }

  // A block of used elements: a string copy; its bytes come on top.
  Operation block(Builder& b, const RingShape& shape, RingVariant variant) const {
    if (is_mapped(shape.area, variant)) {
      guard(b);
    } else {
      if (!variant.in_section) enter_user(b, sections());
      b.part(Cost::kDirectCall).part(Cost::kHardenedUsercopy);
    }
    return b.part(Cost::kCopyStartup);
  }

  // A scope opens a section only where something in it is user memory.
  Operation section(Step step) const {
    Builder b(step, costs_);
    if (sections()) enter_user(b, true);
    return b;
  }

  // A copy from a user buffer: these stay user accesses whatever the plan maps.
  Operation user_copy(Step step, bool in_section) const {
    Builder b(step, costs_);
    b.part(Cost::kIovIter).part(Cost::kDirectCall).part(Cost::kHardenedUsercopy);
    if (!in_section) {
      b.part(Cost::kStacClac).part(Cost::kAccessOk);
      if (kernel_.copy_nospec) b.part(Cost::kLfenceFloor).drains();
    }
    return b.part(Cost::kCopyStartup);
  }

  Operation one(Step step, Cost cost) const { return Builder(step, costs_).part(cost); }
  Operation all(Step step, const CostList& costs) const {
    Builder b(step, costs_);
    for (const Cost cost : costs) b.part(cost);
    return b;
  }

  const AccessPlan& plan_;
  const KernelPreset& kernel_;
  const CostModel& costs_;
  const SinkCosts& sink_;
};

Operation TableBuilder::other(Op op) const {
  switch (op) {
    case Op::kSectionAvail:
      return section(Step::kAvailHead);
    case Op::kSectionDesc:
      return section(Step::kDescriptor);
    case Op::kSectionFetch:
      return section(Step::kAvailHead);
    case Op::kSectionUsed:
      return section(Step::kUsed);
    case Op::kTranslate:
      return one(Step::kTranslate, Cost::kTranslate);
    case Op::kIndirectCopy:
      return user_copy(Step::kDescriptor, false);
    case Op::kHeaderCopy:
      return user_copy(Step::kHeaderCopy, false);
    case Op::kPayloadCopy:
      return user_copy(Step::kPayloadCopy, false);
    case Op::kCopySection: {
      Builder b(Step::kPayloadCopy, costs_);
      b.part(Cost::kStacClac).part(Cost::kAccessOk);
      if (kernel_.nospec) b.part(Cost::kLfenceFloor).drains();
      return b;
    }
    case Op::kHeaderCopyInSection:
      return user_copy(Step::kHeaderCopy, true);
    case Op::kPayloadCopyInSection:
      return user_copy(Step::kPayloadCopy, true);
    case Op::kEnableNotifyBarrier:
      return Builder(Step::kSuppress, costs_).part(Cost::kFullBarrier).drains();
    case Op::kCallDecisionBarrier:
      return Builder(Step::kCall, costs_).part(Cost::kFullBarrier).drains();
    case Op::kAllocateBuffer:
      return Builder(Step::kBuild, costs_)
          .half_of(Step::kPacket, Cost::kUnmodelled, false)
          .part(Cost::kPageFrag)
          .part(Cost::kAtomicRmw, kernel_.frag_bias ? 0 : 1);
    case Op::kAllocateSkb:
      return Builder(Step::kBuild, costs_)
          .half_of(Step::kPacket, Cost::kUnmodelled, false)
          .part(Cost::kSkbAlloc)
          .part(Cost::kAtomicRmw, 2);  // charged to the socket, and given back
    case Op::kLendFrame:
      return Builder(Step::kBuild, costs_)
          .half_of(Step::kPacket, Cost::kUnmodelled, false)
          .part(Cost::kSkbAlloc)
          .part(Cost::kAtomicRmw, 2)
          .part(Cost::kZeroCopy);
    case Op::kLendPage:
      return all(Step::kBuild, {Cost::kGup, Cost::kAtomicRmw});
    case Op::kSendCall:
      return all(Step::kSend, {Cost::kIndirectCall, Cost::kSendCall, Cost::kBhPair});
    case Op::kSinkFrame:
      return all(Step::kSend, sink_.frame);
    case Op::kSinkLone:
      return all(Step::kSend, sink_.lone);
    case Op::kSinkFlush:
      return all(Step::kSend, sink_.flush);
    case Op::kSinkRead:
      return all(Step::kRead, sink_.read);
    case Op::kReleaseFrame:
      return one(Step::kSend, Cost::kFrameRelease);
    case Op::kCall:
      return Builder(Step::kCall, costs_).part(Cost::kEventfdSignal).part(Cost::kIrqInject);
    case Op::kRequeue:
      return one(Step::kRequeue, Cost::kWorkerRequeue);
    case Op::kScheduleIn:
      return one(Step::kWake, Cost::kContextSwitch);
    case Op::kBusyPollTurn:
      return one(Step::kBusyPoll, Cost::kBusyPollTurn);
    case Op::kUnmodelledLate:
      return Builder(Step::kPacket, costs_).half_of(Step::kPacket, Cost::kUnmodelled, true);
    case Op::kRxDequeue:
      return one(Step::kReceive, Cost::kSpinLock);
    case Op::kRxEntry:
      return one(Step::kReceive, Cost::kRingEntry);
    case Op::kReceiveCall:
      return Builder(Step::kReceive, costs_)
          .half_of(Step::kPacket, Cost::kUnmodelledRx, false)
          .part(Cost::kIndirectCall)
          .part(Cost::kReceiveCall);
    case Op::kReleaseSkb:
      // Buffer and memory go back to slabs of the core that made them: an atomic each.
      return Builder(Step::kReceive, costs_).part(Cost::kSkbFree).part(Cost::kAtomicRmw, 2);
    case Op::kUnmodelledRxLate:
      return Builder(Step::kPacket, costs_).half_of(Step::kPacket, Cost::kUnmodelledRx, true);
    case Op::kGenerate:
      return all(Step::kGenerate, {Cost::kGenerator, Cost::kSpinLock, Cost::kRingEntry});
    case Op::kGenerateFull:
      return all(Step::kGenerate, {Cost::kGenerator, Cost::kSpinLock, Cost::kSkbFree});
    case Op::kHostSend:
      return all(Step::kGenerate, {Cost::kSocketApp, Cost::kSyscall, Cost::kUdpSend,
                                   Cost::kSpinLock, Cost::kRingEntry});
    case Op::kHostSendFull:
      return all(Step::kGenerate, {Cost::kSocketApp, Cost::kSyscall, Cost::kUdpSend,
                                   Cost::kSpinLock, Cost::kSkbFree});
    case Op::kGuestMacSwap:
      return one(Step::kGuestReceive, Cost::kGuestMacSwap);
    case Op::kGuestPktgen:
      return all(Step::kGuestFill, {Cost::kGenerator, Cost::kSpinLock});
    case Op::kReply:
      return all(Step::kAck,
                 {Cost::kTcpRead, Cost::kTcpTransmit, Cost::kSpinLock, Cost::kRingEntry});
    case Op::kStreamWrite:
      return all(Step::kGuestWrite, {Cost::kSyscall, Cost::kTcpWrite});
    case Op::kStreamTransmit:
      return Builder(Step::kGuestFill, costs_).part(Cost::kTcpTransmit).part(Cost::kSpinLock, 2);
    case Op::kStreamFree:
      return one(Step::kGuestReap, Cost::kSkbFree);
    case Op::kStreamAck:
      return one(Step::kGuestAck, Cost::kTcpAckReceive);
    case Op::kAckSend:
      return all(Step::kAck, {Cost::kTcpAckSend, Cost::kSpinLock, Cost::kRingEntry});
    case Op::kReaderWake:
      return one(Step::kSend, Cost::kReaderWake);
    case Op::kStreamRead:
      return all(Step::kRead, {Cost::kSyscall, Cost::kTcpRead});
    case Op::kStreamSwitch:
      return one(Step::kRead, Cost::kContextSwitch);
    case Op::kGuestReceive:
      return one(Step::kGuestReceive, Cost::kGuestReceive);
    case Op::kGuestPacket:
      return one(Step::kGuestFill, Cost::kGuestPacket);
    case Op::kGuestBurst:
      return one(Step::kGuestFill, Cost::kGuestBurst);
    case Op::kGuestPublish:
      return one(Step::kGuestPublish, Cost::kPlainAccess);
    case Op::kGuestReap:
      return one(Step::kGuestReap, Cost::kPlainAccess);
    case Op::kGuestKickDecision:
      return Builder(Step::kGuestKick, costs_).part(Cost::kFullBarrier).drains();
    case Op::kGuestKickSyscall:
      return Builder(Step::kGuestKick, costs_).part(Cost::kSyscall).part(Cost::kEventfdSignal);
    case Op::kGuestKickExit:
      return one(Step::kGuestKick, Cost::kVmExit);
    case Op::kGuestPoll:
      return one(Step::kGuestPoll, Cost::kGuestPoll);
    case Op::kGuestArmCall:
      return Builder(Step::kGuestInterrupt, costs_).part(Cost::kFullBarrier).drains();
    case Op::kGuestInterrupt:
      return one(Step::kGuestInterrupt, Cost::kGuestInterrupt);
    case Op::kMapPage:
      return Builder(Step::kMapping, costs_).part(Cost::kGup).part(Cost::kVmap);
    case Op::kUnmapPage:
      return Builder(Step::kMapping, costs_).part(Cost::kVunmap).part(Cost::kUnpinDirty);
    case Op::kUnmapArea:
      return one(Step::kMapping, Cost::kTlbShootdown);
    case Op::kWaitReaders:
      return one(Step::kMapping, Cost::kRcuGrace);
    case Op::kInvalidate:
      return one(Step::kInvalidate, Cost::kMmuNotifier);
    default:
      return block_device(op);
  }
}

// What only the workload "blk" does.
Operation TableBuilder::block_device(Op op) const {
  switch (op) {
    case Op::kDmaCall:
      return one(Step::kDmaMap, Cost::kDmaCall);
    case Op::kDmaSync:
      return one(Step::kDmaUnmap, Cost::kDmaSync);
    case Op::kIovaCached:
      return one(Step::kDmaMap, Cost::kIovaCached);
    case Op::kIovaTree:
      return one(Step::kDmaMap, Cost::kIovaTree);
    case Op::kIommuMapMore:
      return one(Step::kDmaMap, Cost::kIommuMore);
    case Op::kIommuUnmapMore:
      return one(Step::kDmaUnmap, Cost::kIommuMore);
    case Op::kIommuMap:
      return one(Step::kDmaMap, Cost::kIommuMap);
    case Op::kIommuUnmap:
      return one(Step::kDmaUnmap, Cost::kIommuUnmap);
    case Op::kIotlbInvalidate:
      return one(Step::kDmaUnmap, Cost::kIotlbInvalidate);
    case Op::kBounceSlots:
      return one(Step::kDmaMap, Cost::kBounceSlots);
    case Op::kBounceIn:
      return one(Step::kDmaMap, Cost::kCopyStartup);
    case Op::kBounceOut:
      return one(Step::kDmaUnmap, Cost::kCopyStartup);
    case Op::kIotlbMiss:
      return one(Step::kTranslate, Cost::kIotlbMiss);
    case Op::kNapiPoll:
      return one(Step::kGuestReceive, Cost::kNapiPoll);
    case Op::kNapiPacket:
      return all(Step::kGuestReceive,
                 {Cost::kNapiPacket, Cost::kPageFrag, Cost::kSkbBuild, Cost::kUdpReceive,
                  Cost::kSkbFree, Cost::kUnmodelledGuestRx});
    case Op::kBlkApp:
      return one(Step::kGuestApp, Cost::kGuestApp);
    case Op::kBlkCall:
      return one(Step::kGuestSubmit, Cost::kSyscall);
    case Op::kBlkAioCall:
      return Builder(Step::kGuestSubmit, costs_).part(Cost::kSyscall, 2).part(Cost::kGuestAio);
    case Op::kBlkRequest:
      return one(Step::kGuestSubmit, Cost::kGuestBlkRequest);
    case Op::kBlkPage:
      return one(Step::kGuestSubmit, Cost::kGuestBlkPage);
    case Op::kBlkRequestDone:
      return one(Step::kGuestComplete, Cost::kGuestBlkComplete);
    case Op::kBlkPageDone:
      return one(Step::kGuestComplete, Cost::kGuestBlkPageDone);
    case Op::kApicExit:
      return one(Step::kGuestInterrupt, Cost::kApicExit);
    case Op::kBlkJobSwitch:
      return one(Step::kGuestComplete, Cost::kContextSwitch);
    case Op::kGuestKickVmm:
      return one(Step::kGuestKick, Cost::kExitToVmm);
    case Op::kUnmodelledBlk:
      return one(Step::kPacket, Cost::kUnmodelledBlk);
    case Op::kPinPage:
      return one(Step::kStore, Cost::kGup);
    case Op::kBioSubmit:
      return one(Step::kStore, Cost::kBioSubmit);
    case Op::kBioComplete:
      return one(Step::kComplete, Cost::kBioComplete);
    case Op::kRamPage:
      return one(Step::kStore, Cost::kRamPage);
    case Op::kVfsCall:
      return all(Step::kStore, {Cost::kIndirectCall, Cost::kVfsCall});
    case Op::kCacheReadPage:
      return one(Step::kPageCache, Cost::kCacheRead);
    case Op::kCacheWritePage:
      return one(Step::kPageCache, Cost::kCacheWrite);
    case Op::kCacheWriteCall:
      return one(Step::kPageCache, Cost::kCacheWriteCall);
    case Op::kFileResume:
      return all(Step::kComplete, {Cost::kBioComplete, Cost::kContextSwitch});
    case Op::kVmmTurn:
      return Builder(Step::kEventLoop, costs_).part(Cost::kSyscall, 2).part(Cost::kVmmTurn);
    case Op::kVmmRequest:
      return one(Step::kStore, Cost::kVmmRequest);
    case Op::kVmmSegment:
      return one(Step::kStore, Cost::kVmmSegment);
    case Op::kThreadHandoff:
      return one(Step::kStore, Cost::kThreadHandoff);
    case Op::kPoolCall:
      return one(Step::kStore, Cost::kSyscall);
    case Op::kPoolDone:
      return all(Step::kComplete, {Cost::kSyscall, Cost::kEventfdSignal});
    case Op::kAioCall:
      return one(Step::kStore, Cost::kSyscall);
    case Op::kAioRequest:
      return one(Step::kStore, Cost::kAioRequest);
    case Op::kUringRequest:
      return one(Step::kStore, Cost::kUringRequest);
    case Op::kCallIoctl:
      return all(Step::kCall, {Cost::kSyscall, Cost::kIrqIoctl});
    case Op::kCallIrqfd:
      return all(Step::kCall, {Cost::kSyscall, Cost::kEventfdSignal, Cost::kIrqInject});
    default:
      return application(op);
  }
}

// What guests with an application on a socket do besides.
Operation TableBuilder::application(Op op) const {
  switch (op) {
    case Op::kSocketApp:
      return one(Step::kGuestApp, Cost::kSocketApp);
    case Op::kUdpSend:
      return all(Step::kGuestFill,
                 {Cost::kSyscall, Cost::kUdpSend, Cost::kSpinLock, Cost::kUnmodelledGuestTx});
    case Op::kUdpRead:
      return all(Step::kGuestApp, {Cost::kSyscall, Cost::kUdpRead, Cost::kSkbFree});
    case Op::kNapiToSocket:
      return all(Step::kGuestReceive, {Cost::kNapiPacket, Cost::kPageFrag, Cost::kSkbBuild,
                                       Cost::kUdpReceive, Cost::kUnmodelledGuestRx});
    case Op::kXskApp:
      return one(Step::kGuestApp, Cost::kXskApp);
    case Op::kXskSend:
      return one(Step::kGuestFill, Cost::kXskDriver);
    case Op::kXskReceive:
      return all(Step::kGuestReceive, {Cost::kXskDriver, Cost::kXdpProgram});
    case Op::kXskWake:
      return all(Step::kGuestWake, {Cost::kSyscall, Cost::kVmExit});
    case Op::kBlockingCall:
      return all(Step::kGuestApp, {Cost::kSyscall, Cost::kContextSwitch});
    case Op::kGuestWake:
      return all(Step::kGuestWake, {Cost::kReaderWake, Cost::kVmExit});
    case Op::kResetExit:
      return one(Step::kGuestReset, Cost::kMmioToVmm);
    case Op::kQueueStop:
      return one(Step::kGuestReset, Cost::kVhostQueueStop);
    case Op::kQueueStart:
      return one(Step::kGuestReset, Cost::kVhostQueueStart);
    default:
      return Builder(Step::kPacket, costs_);
  }
}

}  // namespace

std::vector<Operation> build_operations(const AccessPlan& plan, const KernelPreset& kernel,
                                        const CostModel& costs, const SinkCosts& sink) {
  const TableBuilder builder(plan, kernel, costs, sink);
  std::vector<Operation> table;
  for (const bool unmapped : {false, true}) {
    for (const bool in_section : {false, true}) {
      for (std::size_t op = 0; op < kRingOps; ++op)
        table.push_back(builder.ring(static_cast<RingOp>(op), {in_section, unmapped}));
    }
  }
  for (std::size_t op = 0; op < static_cast<std::size_t>(Op::kCount); ++op)
    table.push_back(builder.other(static_cast<Op>(op)));
  return table;
}

}  // namespace vringlab::sim
