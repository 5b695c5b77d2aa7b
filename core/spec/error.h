// What a guest can cause, as values: one enum, one line of meaning each.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

namespace vringlab {

enum class RingError : std::uint8_t {
  kNone,                   // no error
  kQueueSize,              // ring size is zero, not a power of two or above 32768
  kRingAreaAlignment,      // a ring area is not aligned as the format demands
  kRingAreaOutsideMemory,  // a ring area does not lie whole inside one region
  kAvailIndexAhead,        // avail.idx is more than the ring size ahead of the device
  kHeadOutOfRange,         // an avail entry names a descriptor outside the table
  kHeadInFlight,           // an avail entry names a head that the device still holds
  kNextOutOfRange,         // desc.next points outside its table
  kChainTooLong,           // more descriptors than the table holds: a loop
  kChainBytesOverflow,     // the lengths of a chain add up to 2^32 bytes or more
  kReadableAfterWritable,  // a device-readable descriptor follows a device-writable one
  kAddressOverflow,        // addr + len passes 2^64
  kAddressOutsideMemory,   // a buffer is not whole inside guest memory
  kTooManyPieces,          // a chain falls into more host pieces than the queue was set up for
  kIndirectNotNegotiated,  // INDIRECT without the feature
  kIndirectWithNext,       // INDIRECT and NEXT in one descriptor
  kIndirectNested,         // INDIRECT inside an indirect table
  kIndirectLength,         // table length is zero or no multiple of 16
  kIndirectTooLong,        // table has more entries than the ring
  kUnexpectedWritable,     // a transmit chain has a device-writable part
  kUnexpectedReadable,     // a receive chain has a device-readable part
  kNothingWritable,        // a receive chain or a block request can't take a byte
  kHeaderTooShort,         // the chain is shorter than the negotiated header
  kFrameTooShort,          // the frame is shorter than an Ethernet header
  kFrameTooLong,           // the frame is longer than any socket takes
  kChecksumRange,          // the checksum asked for lies outside the frame
  kSegmentSize,            // segmentation asked for with segments of no bytes
  kNoBuffer,               // the host has no buffer for the frame
  kUsedIndexAhead,         // used.idx is further ahead than buffers are in flight
  kUsedIdOutOfRange,       // a used element names a descriptor outside the table
  kUsedIdNotInFlight,      // a used element names a head that the driver does not wait for
  kUsedLength,             // a used element claims more bytes than the chain can take
  kRingFull,               // the driver has not enough free descriptors
  kEmptyChain,             // the driver was asked to add a chain of no buffers
  kQueueBroken,            // the queue was marked broken before
  kQueueDisabled,          // the queue was reset and not enabled again
  kQueueNotEmpty,          // what needs an empty queue was asked of one that holds buffers
  kDmaMapping,             // the DMA api can't map a buffer now
  kNoDmaApi,               // premapped buffers on a queue that maps nothing
  kResetNotNegotiated,     // a reset of one queue without the feature
  kResetRefused,           // the device does not let go of the queue
  kNoRingMemory,           // no memory for a ring of the size asked for
  kXskIndex,               // an application's index of an AF_XDP ring can't be true
  kCount
};

// A name for reports and counters; never called on a hot path.
std::string_view describe(RingError error);

// A value or a RingError. `T` must be default constructible; the value is
// meaningful only where ok() is true.
template <class T>
class [[nodiscard]] Result {
 public:
  constexpr Result(T value) : value_(std::move(value)) {}  // NOLINT: implicit by design
  constexpr Result(RingError error) : error_(error) {}     // NOLINT: implicit by design

  constexpr bool ok() const { return error_ == RingError::kNone; }
  constexpr RingError error() const { return error_; }
  constexpr const T& value() const { return value_; }
  constexpr T& value() { return value_; }

 private:
  T value_{};
  RingError error_ = RingError::kNone;
};

}  // namespace vringlab
