// The two axes of the ledger: what a picosecond was spent on (Cost) and which
// step of a packet's life spent it (Step).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace vringlab::sim {

enum class Cost : std::uint8_t {
  kStacClac,       // SMAP toggled on and off around a user access
  kLfenceFloor,    // speculation barrier with nothing outstanding
  kBarrierDrain,   // wait of a barrier for the oldest outstanding load
  kAccessOk,       // range check of a user pointer
  kAddressMask,    // masking of a user pointer instead of check and barrier
  kSeparateFixup,  // exception fixup that an access does not share
  kPlainAccess,    // the load or store itself, line in L1
  kCopyStartup,    // start of a string copy
  kCopyBytes,      // a copy's bytes
  kIovIter,        // iterator around a copy from a user buffer
  kHardenedUsercopy,
  kDirectCall,
  kIndirectCall,
  kFullBarrier,
  kAtomicRmw,
  kSpinLock,
  kRcuRead,
  kL2Hit,
  kL3Hit,
  kDram,
  kTransferCcx,     // line modified by a core of the same CCX
  kTransferSocket,  // line modified by another core of the socket
  kTransferRemote,  // line modified on the other socket
  kRemoteHome,      // extra for a line whose home is the other socket
  kLineStream,      // further lines of one copy
  kStoreMiss,       // exposed part of gaining ownership for a store
  kTlb,             // data TLB misses
  kTranslate,       // look-up of a guest buffer
  kPageFrag,        // buffer allocated from a page fragment
  kFrameRelease,    // buffer's page reference dropped
  kXdpFrame,        // per frame around the XDP program
  kXdpProgram,      // the XDP program
  kXdpRedirect,     // a frame enqueued to a NIC and sent by it in bulk
  kNicDoorbell,     // the NIC is told of new frames
  kRingEntry,       // an entry put into or taken from a ring of pointers
  kSkbBuild,        // socket buffer built around a frame
  kSkbAlloc,        // socket buffer and its memory allocated, and freed
  kSkbFree,         // socket buffer freed
  kPageAlloc,       // pages of a large frame
  kZeroCopy,        // a frame lent to the socket: its notice, made and completed
  kReceiveStack,    // a frame through the receive path up to a raw socket
  kBridge,          // a frame through a bridge to another port
  kMacvlan,         // a frame through macvlan to the lower device
  kSendCall,        // one call into the socket
  kReceiveCall,     // one call that takes a frame from the socket
  kBhPair,          // bottom halves off and on
  kSyscall,
  kVmExit,
  kEventfdSignal,
  kIrqInject,
  kContextSwitch,
  kWorkerRequeue,
  kBusyPollTurn,
  kGuestPacket,
  kGuestBurst,
  kGuestPoll,
  kGuestInterrupt,
  kGuestReceive,  // the guest takes one frame
  kGuestMacSwap,  // and exchanges its addresses
  kGenerator,     // one frame made by a generator in the host
  kTcpWrite,      // one write into a TCP socket, system call and bytes apart
  kTcpWriteBytes,
  kTcpTransmit,    // one packet down the guest's TCP stack
  kTcpReceive,     // one packet up the host's TCP stack
  kTcpAckSend,     // an acknowledgement made by the host
  kTcpAckReceive,  // and taken by the guest
  kTcpRead,        // one read out of a TCP socket, system call and bytes apart
  kTcpReadBytes,
  kReaderWake,  // a sleeping reader is woken
  kGup,
  kVmap,
  kVunmap,
  kTlbShootdown,
  kUnpinDirty,
  kMmuNotifier,
  kRcuGrace,
  kUnmodelled,         // work on the transmit path that no row names
  kUnmodelledRx,       // on the receive path
  kGuestApp,           // the application makes one I/O
  kGuestAio,           // one asynchronous I/O through its system call, that apart
  kGuestBlkRequest,    // one request down the guest's file and block layers
  kGuestBlkPage,       // one page of it pinned and listed
  kGuestBlkComplete,   // one request completed by the guest
  kGuestBlkPageDone,   // one page of a read marked dirty and given back
  kApicExit,           // a virtual machine leaves guest mode for its interrupt controller
  kExitToVmm,          // a virtual machine leaves guest mode for user space
  kBioSubmit,          // one request given to the host's block layer
  kBioComplete,        // its disk's interrupt and its completion
  kVfsCall,            // one read or write of a file by the kernel
  kCacheRead,          // a page copied out of the page cache
  kCacheWrite,         // a page copied into it
  kCacheWriteCall,     // the fixed part of a write into it
  kRamPage,            // a page copied by a RAM disk
  kVmmTurn,            // one turn of a VMM's event loop
  kVmmRequest,         // one request inside a VMM
  kVmmSegment,         // one descriptor of a request read and mapped by a VMM
  kThreadHandoff,      // a request given to a thread of a pool
  kAioRequest,         // one request of an asynchronous batch, submitted and taken back
  kUringRequest,       // the same through rings that the kernel shares
  kIrqIoctl,           // an interrupt injected by an ioctl
  kDmaCall,            // a call into a DMA layer that has nothing to map
  kDmaSync,            // a part of a mapping handed to the processor
  kIovaCached,         // an I/O address from the processor's own cache
  kIovaTree,           // or from the tree of all
  kIommuMap,           // one page entered into the I/O page table
  kIommuUnmap,         // or taken out
  kIommuMore,          // each further page of the same range, mapped or unmapped
  kIotlbInvalidate,    // the IOTLB told, and waited for
  kNapiPoll,           // one poll of a driver by its softirq
  kNapiPacket,         // one packet out of the driver into the stack
  kUdpReceive,         // one packet up the stack into a UDP socket
  kUnmodelledGuestRx,  // on the guest's receive path
  kUnmodelledBlk,      // on the block path
  kUdpSend,            // one write into a UDP socket, down to the driver; system call apart
  kUdpRead,            // one read out of a UDP socket, system call apart
  kSocketApp,          // an application that counts and times what it sends or reads
  kXskApp,             // an AF_XDP application makes or looks at one frame
  kXskDriver,          // a driver moves one frame between AF_XDP rings and virtqueue
  kUnmodelledGuestTx,  // on the guest's transmit path
  kIotlbMiss,          // a page that the device reaches is looked up in the I/O page table
  kBounceSlots,        // a run of slots of a bounce pool found, and given back later
  kMmioToVmm,          // a virtual machine leaves guest mode for user space, for a register
  kVhostQueueStop,     // a VMM takes one queue from its vhost worker
  kVhostQueueStart,    // and gives it one
  kCount
};

enum class Step : std::uint8_t {
  kGuestFill,       // guest builds a frame and writes descriptors
  kGuestPublish,    // guest writes avail entry and index
  kGuestKick,       // guest decides on a kick, and kicks
  kGuestReap,       // guest reads used elements
  kGuestPoll,       // guest finds its ring full
  kGuestInterrupt,  // guest takes a call
  kWake,            // worker is scheduled in
  kSuppress,        // worker turns kicks on and off
  kAvailIndex,      // worker reads avail.idx
  kAvailHead,       // worker reads an avail entry
  kDescriptor,      // worker reads descriptors
  kTranslate,       // worker translates buffers
  kBuild,           // worker gets an XDP buffer
  kHeaderCopy,      // worker copies the virtio-net header
  kPayloadCopy,     // worker copies the frame
  kSend,            // socket takes a batch
  kUsed,            // worker writes used elements and index
  kCall,            // worker decides on a call, and calls
  kBusyPoll,        // worker polls before it sleeps
  kRequeue,         // worker yields to others
  kMapping,         // metadata areas mapped and unmapped
  kInvalidate,      // a mapping is invalidated under the worker
  kPacket,          // not modelled, per packet
  kReceive,         // worker takes a frame from the socket
  kGenerate,        // a generator in the host makes a frame
  kGuestReceive,    // guest takes a frame
  kGuestWrite,      // guest writes into a socket
  kGuestAck,        // guest takes an acknowledgement
  kAck,             // host makes an acknowledgement
  kRead,            // host reads from a socket
  kGuestApp,        // application in the guest makes an I/O
  kGuestSubmit,     // guest builds requests of it
  kGuestComplete,   // guest completes them
  kStore,           // worker gives a request to its store
  kPageCache,       // pages copied between guest and the host's page cache
  kComplete,        // worker takes a completion from its store
  kEventLoop,       // a VMM's event loop turns
  kDmaMap,          // guest maps a buffer for the device
  kDmaUnmap,        // and takes it back
  kGuestWake,       // one virtual processor wakes another
  kGuestReset,      // guest resets a queue, and its VMM with it
  kCount
};

inline constexpr std::size_t kCosts = static_cast<std::size_t>(Cost::kCount);
inline constexpr std::size_t kSteps = static_cast<std::size_t>(Step::kCount);

constexpr std::size_t index(Cost cost) { return static_cast<std::size_t>(cost); }
constexpr std::size_t index(Step step) { return static_cast<std::size_t>(step); }

std::string_view name(Cost cost);
std::string_view name(Step step);

}  // namespace vringlab::sim
