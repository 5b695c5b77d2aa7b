// The receive loop of a network device: the life of a packet from the socket to
// used elements, in reading order. One turn takes one packet. A packet that finds
// too few buffers stays at hand until the driver has offered more.
#pragma once

#include <algorithm>
#include <cassert>
#include <vector>

#include "core/backend/net/rx_copy.h"
#include "core/device/turn.h"
#include "core/ring/device_ring.h"

namespace vringlab {

struct NetRxConfig {
  std::uint32_t dequeue_batch = 64;  // packets taken from the source at once
  std::uint32_t used_batch = 64;     // once so many wait, they are published: whole packets
  bool mergeable = false;            // MRG_RXBUF negotiated: a packet may fill several chains
  std::uint32_t header_bytes = sizeof(VirtioNetHdr);
  // Chains of one packet; and descriptors of them all, if it is more than a chain may
  // have. 1024 is what an I/O vector of Linux holds.
  std::uint32_t max_buffers = 1024;
  Weight weight{};
};

struct NetRxCounters {
  std::uint64_t packets = 0;  // delivered
  std::uint64_t bytes = 0;    // their length, header not counted
  std::uint64_t buffers = 0;  // chains they took
  std::uint64_t batches = 0;  // calls of the source that found packets
  std::uint64_t dropped = 0;  // packets that no number of buffers could have taken
  std::uint64_t starved = 0;  // turns that ended for want of buffers
  std::uint64_t refused = 0;  // chains given back unused, length 0
  std::uint64_t calls = 0;    // driver notified
  std::uint64_t lost = 0;     // packets at hand when the queue was reset
  RingError last_error = RingError::kNone;
};

template <RingAccess A, PayloadAccess P, RxSource S, Caller C>
class NetRx {
 public:
  NetRx(DeviceRing<A, P> ring, S& source, C& caller, const NetRxConfig& config, std::size_t regions)
      : ring_(std::move(ring)),
        source_(source),
        caller_(caller),
        config_(config),
        regions_(regions),
        packets_(config.dequeue_batch) {
    make_room();
    assert(config.header_bytes <= sizeof(VirtioNetHdr));
    assert(!config.mergeable || config.header_bytes == sizeof(VirtioNetHdr));
  }

  // Takes at most one packet.
  Turn step() {
    if (!running_) begin_run();
    if (next_ == dequeued_ && !dequeue()) return end_run(Turn::kEmpty);
    switch (take_buffers(config_.header_bytes + packets_[next_].bytes)) {
      case Room::kEnough:
        deliver();
        break;
      case Room::kNever:
        drop();
        break;
      case Room::kRefused:
        refuse();
        break;
      case Room::kTooLittle:
        ++counters_.starved;
        ring_.discard(taken_);
        return end_run(Turn::kNoBuffers);
      case Room::kBroken:
        ring_.discard(taken_);
        return end_run(Turn::kBroken);
    }
    if (ring_.state().pending_used >= config_.used_batch) flush();
    if (++run_packets_ >= config_.weight.packets || run_bytes_ >= config_.weight.bytes)
      return end_run(Turn::kYield);
    return Turn::kPacket;
  }

  // Ends the run where it is: what was delivered is published.
  void finish() { end_run(Turn::kYield); }

  // Back to a new queue: what was dequeued is lost, nothing more is published.
  void reset() {
    counters_.lost += dequeued_ - next_;
    for (; next_ < dequeued_; ++next_) source_.release(packets_[next_]);
    running_ = false;
    ring_.reset();
  }

  // After a reset: goes on with another ring, of any size. Allocates.
  void restart(DeviceRing<A, P> ring) {
    assert(next_ == dequeued_ && !running_);
    ring_ = std::move(ring);
    make_room();
  }

  // Asks for kicks before waiting for buffers; true: more came meanwhile, go on.
  bool arm() { return ring_.enable_notify(); }

  // Have buffers come since the last look? For a device that polls before it sleeps.
  bool work_pending() { return ring_.more_available(); }

  // Is there a packet, at hand or at the source?
  bool pending() { return next_ < dequeued_ || source_.pending(); }

  DeviceRing<A, P>& ring() { return ring_; }
  const NetRxCounters& counters() const { return counters_; }

 private:
  // What the buffers on offer are to the packet at hand.
  enum class Room : std::uint8_t {
    kEnough,
    kTooLittle,  // the driver may offer more
    kNever,      // too many would be needed
    kRefused,    // the last one is malformed
    kBroken
  };

  // For the chains of one packet.
  void make_room() {
    const std::uint32_t size = ring_.state().size;
    pieces_.resize(std::max<std::size_t>(chain_room(size, regions_), config_.max_buffers));
    buffers_.resize(config_.mergeable ? std::min(size, config_.max_buffers) : 1);
  }

  void begin_run() {
    running_ = true;
    run_packets_ = 0;
    run_bytes_ = 0;
    ring_.disable_notify();
  }

  Turn end_run(Turn why) {
    running_ = false;
    flush();
    return why;
  }

  bool dequeue() {
    next_ = 0;
    dequeued_ = source_.dequeue(packets_);
    if (dequeued_ > 0) ++counters_.batches;
    return dequeued_ > 0;
  }

  // Takes chains until they have room for `bytes`.
  Room take_buffers(std::uint32_t bytes) {
    taken_ = 0;
    piece_count_ = descriptors_ = in_ring_ = 0;
    while (bytes > 0) {
      if (taken_ == buffers_.size()) return Room::kNever;
      const Room room = take_buffer(bytes);
      if (room != Room::kEnough) return room;
    }
    return Room::kEnough;
  }

  Room take_buffer(std::uint32_t& bytes) {
    Chain chain{.room = std::span(pieces_).subspan(piece_count_)};
    RingError error = RingError::kNone;
    const Fetch fetch = ring_.next_chain(chain, error);
    if (fetch == Fetch::kEmpty) return more_may_come() ? Room::kTooLittle : Room::kNever;
    if (fetch == Fetch::kBroken) return Room::kBroken;
    UsedElem& buffer = buffers_[taken_++];
    buffer.id = chain.head;
    // With indirect tables each chain may have as many descriptors as the ring: a
    // packet's chains together get no more room, and no more work, than this.
    descriptors_ += chain.descriptors;
    if (taken_ > 1 && (error == RingError::kTooManyPieces || descriptors_ > pieces_.size()))
      return Room::kNever;
    if (error == RingError::kNone) error = check(chain);
    if (error != RingError::kNone) {
      counters_.last_error = error;
      return Room::kRefused;
    }
    in_ring_ += chain.in_ring();
    piece_count_ += chain.piece_count;
    buffer.len = std::min(bytes, chain.writable_bytes);
    bytes -= buffer.len;
    return Room::kEnough;
  }

  // No entry is left to fetch. Every descriptor that the packet's chains don't have is
  // the driver's, or will be when the run ends and what is complete is published; so it
  // may offer more as long as there is one. How many descriptors its next chain would
  // want only the driver knows: if there are too few for that, the packet waits.
  bool more_may_come() const { return in_ring_ < ring_.state().size; }

  RingError check(const Chain& chain) const {
    if (chain.readable_count > 0) return RingError::kUnexpectedReadable;
    if (taken_ > 1) return chain.piece_count > 0 ? RingError::kNone : RingError::kNothingWritable;
    return chain.writable_bytes < config_.header_bytes ? RingError::kHeaderTooShort
                                                       : RingError::kNone;
  }

  // The header, with num_buffers, is written before any of the chains is completed.
  void deliver() {
    source_.receive(packets_[next_]);
    copy_packet(ring_.payload(), std::span(pieces_).first(piece_count_), packets_[next_],
                config_.header_bytes, taken_, config_.mergeable);
    for (const UsedElem& buffer : std::span(buffers_).first(taken_))
      ring_.push_used(static_cast<std::uint16_t>(buffer.id), buffer.len);
    ++counters_.packets;
    counters_.bytes += packets_[next_].bytes;
    counters_.buffers += taken_;
    release();
  }

  // The buffers are as good as before, for the next packet.
  void drop() {
    ring_.discard(taken_);
    ++counters_.dropped;
    release();
  }

  void release() {
    run_bytes_ += config_.header_bytes + packets_[next_].bytes;
    source_.release(packets_[next_++]);
  }

  // The driver gets the malformed chain back, and those before it in their order;
  // the packet tries the next ones.
  void refuse() {
    for (const UsedElem& buffer : std::span(buffers_).first(taken_))
      ring_.push_used(static_cast<std::uint16_t>(buffer.id), 0);
    counters_.refused += taken_;
  }

  // Lets the driver have what is complete. 5.1.6.4.1: the chains of a packet all
  // together; they are, as no packet is under way.
  void flush() {
    if (ring_.flush_used() > 0 && ring_.should_call()) {
      ++counters_.calls;
      caller_.call();
    }
  }

  DeviceRing<A, P> ring_;
  S& source_;
  C& caller_;
  NetRxConfig config_;
  std::size_t regions_;            // of guest memory
  std::vector<RxFrame> packets_;   // dequeued in one go
  std::size_t dequeued_ = 0;       // how many those are
  std::size_t next_ = 0;           // of them, the packet at hand
  std::vector<Piece> pieces_;      // of all chains of the packet at hand
  std::size_t piece_count_ = 0;    // of them, those in use
  std::size_t descriptors_ = 0;    // walked for the packet at hand
  std::size_t in_ring_ = 0;        // of them, those of the ring's own table
  std::vector<UsedElem> buffers_;  // chains of the packet at hand, and what goes into them
  std::uint16_t taken_ = 0;        // of them, those fetched
  bool running_ = false;
  std::uint32_t run_packets_ = 0;
  std::uint64_t run_bytes_ = 0;
  NetRxCounters counters_;
};

}  // namespace vringlab
