// One queue reset, or given another size, while the others run (VIRTIO 1.2,
// 2.6.1). Whatever the device never used comes back to its owner.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include "core/driver/driver_ring.h"

namespace vringlab {

// How the driver speaks to the device of one queue. reset_queue returns once the
// device has let go of the queue: it reads and writes nothing of it any more.
// False: it does not, and the queue stays as it is.
template <class T>
concept QueueTransport = requires(T t, const QueueConfig& config) {
  { t.reset_queue() } -> std::same_as<bool>;
  t.enable_queue(config);
};

// Where rings come from: a place for `size` entries with the features of the
// old one, or none; and where they go.
template <class M, class A>
concept RingMemory = requires(M m, std::uint32_t size, const QueueConfig& config) {
  { m.allocate(size) } -> std::same_as<std::optional<RingPlace<A>>>;
  m.release(config);
};

// The queue is disabled and empty afterwards. recycle(token) gets each buffer
// that was never used, once, unmapped. A queue that is broken can be reset too.
template <class A, class Dma, QueueTransport T, class Recycle>
RingError reset_queue(DriverRing<A, Dma>& ring, T& transport, Recycle&& recycle) {
  if (!ring.config().has(kFeatureRingReset)) return RingError::kResetNotNegotiated;
  if (!transport.reset_queue()) return RingError::kResetRefused;
  ring.disable();
  while (const std::optional<Token> token = ring.detach_unused()) recycle(*token);
  ring.reset();
  ring.disable();
  return RingError::kNone;
}

// After a reset, in whatever memory the ring lies now.
template <class A, class Dma, QueueTransport T>
void enable_queue(DriverRing<A, Dma>& ring, T& transport) {
  ring.enable();
  transport.enable_queue(ring.config());
}

// To the size it has: nothing is done. Memory comes first, so that a queue that
// gets none keeps even what it has in flight.
template <class A, class Dma, QueueTransport T, RingMemory<A> M, class Recycle>
RingError resize_queue(DriverRing<A, Dma>& ring, T& transport, M& memory, std::uint32_t size,
                       Recycle&& recycle) {
  if (!ring.config().has(kFeatureRingReset)) return RingError::kResetNotNegotiated;
  if (!valid_queue_size(size)) return RingError::kQueueSize;
  if (size == ring.state().size) return RingError::kNone;
  std::optional<RingPlace<A>> place = memory.allocate(size);
  if (!place) return RingError::kNoRingMemory;
  const RingError error = reset_queue(ring, transport, recycle);
  if (error != RingError::kNone) {
    memory.release(place->config);
    return error;
  }
  const QueueConfig old = ring.config();
  ring.adopt(std::move(*place));
  memory.release(old);
  enable_queue(ring, transport);
  return RingError::kNone;
}

}  // namespace vringlab
