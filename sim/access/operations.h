// The operations of the simulated machine by name, and the table that gives each
// one its costs under a plan and a kernel.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "sim/access/plan.h"
#include "sim/cost/model.h"
#include "sim/machine/core.h"

namespace vringlab::sim {

// Operations on ring metadata. Each exists four times, see RingVariant.
enum class RingOp : std::uint8_t {
  kGetAvailIdx,
  kGetAvailHead,
  kGetAvailFlags,
  kGetUsedEvent,
  kGetUsedIdx,
  kGetDescriptor,
  kPutUsedOne,    // one element as the plan says
  kPutUsedBlock,  // several: the fixed part of one block copy
  kPutUsedFlags,
  kPutUsedIdx,
  kPutAvailEvent,
  kCount
};

// Everything else a core does in one go.
enum class Op : std::uint8_t {
  kSectionAvail,  // the four scopes, where the plan opens a section for them
  kSectionDesc,
  kSectionFetch,
  kSectionUsed,
  kTranslate,
  kIndirectCopy,  // fixed part of a copy; its bytes and lines come on top
  kHeaderCopy,
  kPayloadCopy,
  kCopySection,  // toggles and barrier of copies made in one go, and their parts
  kHeaderCopyInSection,
  kPayloadCopyInSection,
  kEnableNotifyBarrier,
  kCallDecisionBarrier,
  // A buffer is taken, and half of the work that no row names done; the other half
  // is kUnmodelledLate, after the copies: spread, as nothing is known of where it lies.
  kAllocateBuffer,
  kAllocateSkb,   // the same for a socket buffer: a frame that is sent alone
  kLendFrame,     // the same for a frame that is lent: a socket buffer without memory
  kLendPage,      // one page of it, pinned
  kSendCall,      // a batch, or a frame alone, handed to the socket
  kSinkFrame,     // one frame of a batch, by the sink
  kSinkLone,      // one that was sent alone
  kSinkFlush,     // the end of a call
  kSinkRead,      // one frame taken by the reader behind the sink
  kReleaseFrame,  // a buffer given back unsent
  kCall,
  kRequeue,
  kScheduleIn,  // the worker thread is switched to
  kBusyPollTurn,
  kUnmodelledLate,
  kRxDequeue,    // frames taken from the socket's ring in one go
  kRxEntry,      // one of them
  kReceiveCall,  // one frame received; half of the work that no row names with it
  kReleaseSkb,   // its socket buffer freed
  kUnmodelledRxLate,
  kGenerate,      // a frame made by a generator and put into the socket's ring
  kGenerateFull,  // the same, and the ring has no room
  kHostSend,      // a message of a process of the host, by its socket and stack into that ring
  kHostSendFull,
  kGuestReceive,
  kGuestMacSwap,
  kGuestPktgen,     // a kernel guest's generator makes a frame
  kReply,           // the host answers a request
  kStreamWrite,     // a write into a TCP socket
  kStreamTransmit,  // a packet down the guest's stack, under the locks of the only queue
  kStreamFree,      // a sent packet freed by the guest's driver
  kStreamAck,       // the guest takes an acknowledgement
  kAckSend,         // the host makes one and puts it into the TAP's ring
  kReaderWake,
  kStreamRead,
  kStreamSwitch,  // a core goes on with another process
  kGuestPacket,
  kGuestBurst,
  kGuestPublish,
  kGuestReap,
  kGuestKickDecision,
  kGuestKickSyscall,  // eventfd written by a user-space guest
  kGuestKickExit,     // a virtual machine leaves guest mode
  kGuestPoll,
  kGuestArmCall,
  kGuestInterrupt,
  kMapPage,
  kUnmapPage,
  kUnmapArea,    // per area: address range taken back on all cores
  kWaitReaders,  // per tear-down: until no reader holds the mapping
  kInvalidate,   // the memory manager calls back
  kDmaCall,      // a map or unmap without an IOMMU
  kDmaSync,
  kIovaCached,
  kIovaTree,
  kIommuMap,  // the first page of a range
  kIommuUnmap,
  kIommuMapMore,  // each further one
  kIommuUnmapMore,
  kIotlbInvalidate,
  kNapiPoll,
  kNapiPacket,      // one packet of the kernel's receive path, up to its socket
  kBlkApp,          // a guest's application makes one I/O
  kBlkCall,         // and calls its kernel, which returns when it is done
  kBlkAioCall,      // or at once, to be asked again later
  kBlkRequest,      // the guest's kernel builds one request of it
  kBlkPage,         // one page of that
  kBlkRequestDone,  // and completes it
  kBlkPageDone,     // one page of a read, when it is there
  kApicExit,        // the guest programs its interrupt controller
  kBlkJobSwitch,    // a job that slept is switched to
  kGuestKickVmm,    // a kick that leaves for user space
  kUnmodelledBlk,   // what no row names of a request that the device took
  kPinPage,         // a page of guest memory pinned for a disk
  kBioSubmit,
  kBioComplete,
  kRamPage,
  kVfsCall,
  kCacheReadPage,
  kCacheWritePage,
  kCacheWriteCall,
  kFileResume,     // a thread that blocked in a file is switched to
  kVmmTurn,        // an event loop has found something
  kVmmRequest,     // a request inside a VMM
  kVmmSegment,     // one descriptor of it
  kThreadHandoff,  // it is given to a pool of threads
  kPoolCall,       // one of them calls the kernel for it
  kPoolDone,       // and tells the event loop
  kAioCall,        // or the event loop calls the kernel for a batch
  kAioRequest,     // one of that batch
  kUringRequest,   // the same by way of shared rings
  kCallIoctl,      // a VMM injects an interrupt by ioctl
  kCallIrqfd,      // or by an eventfd
  kSocketApp,      // an application's own part of one message
  kUdpSend,        // it is written into a socket and goes down to the driver
  kUdpRead,        // or read out of one
  kNapiToSocket,   // one packet of the kernel's receive path, left in its socket
  kXskApp,         // an AF_XDP application's part of one frame
  kXskSend,        // its driver's
  kXskReceive,
  kXskWake,       // the application calls its kernel to have the driver woken
  kBlockingCall,  // a system call that sleeps until there is something to do
  kGuestWake,     // one virtual processor wakes another
  kBounceSlots,   // slots of a bounce pool found, and given back later
  kBounceIn,      // the fixed part of a copy into it
  kBounceOut,     // or out of it
  kIotlbMiss,     // the device reaches a page that its IOTLB does not hold
  kResetExit,     // a register of the device is written or read while a queue is reset
  kQueueStop,     // what the VMM does then to take it from the worker
  kQueueStart,    // and to give it back
  kCount
};

// Which of a ring operation's four forms: inside an open section or not, and
// with the plan's mappings or without (they were invalidated).
struct RingVariant {
  bool in_section = false;
  bool unmapped = false;
};

inline constexpr std::size_t kRingOps = static_cast<std::size_t>(RingOp::kCount);

constexpr std::size_t ring_variant_base(RingVariant v) {
  return ((v.in_section ? 1u : 0u) + (v.unmapped ? 2u : 0u)) * kRingOps;
}
constexpr std::size_t operation_index(Op op) { return 4 * kRingOps + static_cast<std::size_t>(op); }

// Costs that are paid together, in this order.
class CostList {
 public:
  template <class... C>
  constexpr CostList(C... costs) : costs_{costs...}, count_(sizeof...(C)) {}  // NOLINT: a literal

  constexpr bool empty() const { return count_ == 0; }
  const Cost* begin() const { return costs_.data(); }
  const Cost* end() const { return costs_.data() + count_; }

 private:
  std::array<Cost, 8> costs_{};
  std::size_t count_;
};

// What a sink costs beyond the copies.
struct SinkCosts {
  CostList frame;  // one frame of a batch
  CostList lone;  // one that was sent alone, in a socket buffer of its own where the sink has those
  CostList flush;   // the end of each call
  CostList read{};  // one frame, by the reader behind it on a core of its own, the copy apart
};

// The table that Core::run indexes: ring operations of the four variants, then Op.
std::vector<Operation> build_operations(const AccessPlan& plan, const KernelPreset& kernel,
                                        const CostModel& costs, const SinkCosts& sink);

}  // namespace vringlab::sim
