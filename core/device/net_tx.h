// The transmit loop of a network device: the whole life of a buffer from avail
// entry to used element, in reading order. One turn takes one packet.
#pragma once

#include <array>
#include <vector>

#include "core/backend/net/tx_copy.h"
#include "core/backend/net/tx_sink.h"
#include "core/device/turn.h"
#include "core/ring/device_ring.h"

namespace vringlab {

// What the socket can do; may change while the queue runs.
struct TxSocket {
  bool batches = true;   // an unlimited send buffer: takes XDP buffers, many at once
  bool headroom = true;  // runs an XDP program, which wants headroom
};

struct NetTxConfig {
  std::uint32_t batch = 64;      // frames handed to the sink, and chains given back, at once
  std::uint32_t copy_batch = 1;  // frames whose copies are made in one go
  std::uint32_t header_bytes = sizeof(VirtioNetHdr);
  TxSocket socket{};
  Weight weight{};
};

struct NetTxCounters {
  std::uint64_t taken = 0;    // chains fetched, well-formed or not
  std::uint64_t packets = 0;  // frames accepted by the sink
  std::uint64_t bytes = 0;    // their length, header not counted
  std::uint64_t batches = 0;  // calls of the sink with a batch
  std::uint64_t alone = 0;    // frames sent by a call of their own
  std::uint64_t dropped = 0;  // frames of batches the sink refused
  std::uint64_t refused = 0;  // chains given back unsent, length 0
  std::uint64_t calls = 0;    // driver notified
  RingError last_error = RingError::kNone;
};

template <RingAccess A, PayloadAccess P, FrameBuffers B, TxSink<P> S, Caller C>
class NetTx {
 public:
  NetTx(DeviceRing<A, P> ring, B& buffers, S& sink, C& caller, const NetTxConfig& config,
        std::size_t regions)
      : ring_(std::move(ring)),
        buffers_(buffers),
        sink_(sink),
        caller_(caller),
        config_(config),
        next_socket_(config.socket),
        pieces_(chain_room(ring_.state().size, regions) * config.copy_batch),
        staged_(config.copy_batch),
        batch_(config.batch) {
    const std::size_t room = pieces_.size() / config.copy_batch;
    for (std::size_t i = 0; i < staged_.size(); ++i)
      staged_[i].chain.room = std::span(pieces_).subspan(i * room, room);
  }

  // Takes at most one packet.
  Turn step() {
    if (!running_) begin_run();
    Staged& next = staged_[staged_count_];
    Chain& chain = next.chain;
    RingError error = RingError::kNone;
    const Fetch fetch = ring_.next_chain(chain, error);
    if (fetch != Fetch::kHead)
      return end_run(fetch == Fetch::kEmpty ? Turn::kEmpty : Turn::kBroken);
    ++counters_.taken;
    if (error == RingError::kNone) error = accept(next);
    if (error == RingError::kNoBuffer) return put_back();
    if (error != RingError::kNone) refuse(chain.head, error);
    run_bytes_ += chain.readable_bytes;
    // A refused chain may have cut a batch of copies short: watch both limits.
    if (staged_count_ == config_.copy_batch || unpublished() + staged_count_ == config_.batch)
      copy_staged();
    if (unpublished() == config_.batch) flush();
    if (++run_packets_ >= config_.weight.packets || run_bytes_ >= config_.weight.bytes)
      return end_run(Turn::kYield);
    return Turn::kPacket;
  }

  // Ends the run where it is: what was taken is sent and published.
  void finish() { end_run(Turn::kYield); }

  // Back to a new queue: what was taken and not sent is dropped, nothing of it is written.
  void reset() {
    for (std::uint32_t i = 0; i < staged_count_; ++i)
      buffers_.release(staged_[i].buffer.hard_start);
    for (const XdpBuffer& buffer : batch()) buffers_.release(buffer.hard_start);
    batch_count_ = 0;
    staged_count_ = 0;
    alone_count_ = 0;
    running_ = false;
    ring_.reset();
  }

  // The socket changed: an XDP program came or went, its send buffer was limited. The
  // run under way still goes by the old one; the sink must bear that.
  void change_socket(const TxSocket& socket) { next_socket_ = socket; }

  // Asks for kicks before going to sleep; true: there is work already, go on.
  bool arm() { return ring_.enable_notify(); }

  // For a device that polls before it sleeps.
  bool work_pending() { return ring_.work_pending(); }

  DeviceRing<A, P>& ring() { return ring_; }
  const NetTxCounters& counters() const { return counters_; }

 private:
  // A chain parsed and given a buffer, whose bytes have yet to be copied.
  struct Staged {
    Chain chain;
    TxRequest request;
    XdpBuffer buffer;
  };

  std::span<const XdpBuffer> batch() const { return std::span(batch_).first(batch_count_); }

  void begin_run() {
    running_ = true;
    run_packets_ = 0;
    run_bytes_ = 0;
    config_.socket = next_socket_;
    ring_.disable_notify();
  }

  [[gnu::noinline]] Turn end_run(Turn why) {
    running_ = false;
    copy_staged();
    flush();
    return why;
  }

  // Takes a well-formed chain on: into a buffer of the batch, or to the sink alone.
  RingError accept(Staged& staged) {
    const auto request = parse_tx(staged.chain, config_.header_bytes, config_.socket.headroom);
    if (!request.ok()) return request.error();
    if (config_.socket.batches && request.value().buffer_bytes != 0)
      return stage(staged, request.value());
    return send_alone(staged.chain, request.value());
  }

  RingError stage(Staged& staged, const TxRequest& request) {
    std::byte* memory = buffers_.allocate(request.buffer_bytes);
    if (memory == nullptr) return RingError::kNoBuffer;
    ++staged_count_;
    staged.request = request;
    staged.buffer = {memory, xdp_frame_offset(config_.socket.headroom), request.frame_bytes};
    return RingError::kNone;
  }

  // What was batched goes first, so that frames keep their order.
  [[gnu::noinline]] RingError send_alone(const Chain& chain, const TxRequest& request) {
    copy_staged();
    if (batch_count_ > 0) flush();
    const bool more = ring_.seen_pending() && run_packets_ + 1 < config_.weight.packets &&
                      run_bytes_ + chain.readable_bytes < config_.weight.bytes;
    const RingError error = sink_.send_alone(ring_.payload(), {chain, request, more});
    if (error != RingError::kNone) return error;
    ++counters_.alone;
    ++counters_.packets;
    counters_.bytes += request.frame_bytes;
    ++alone_count_;
    ring_.push_used(chain.head, 0);
    return RingError::kNone;
  }

  // No buffer now: the chain stays available, and a later run begins with it.
  Turn put_back() {
    counters_.last_error = RingError::kNoBuffer;
    --counters_.taken;
    const Turn turn = end_run(Turn::kEmpty);
    ring_.discard(1);
    return turn;
  }

  // A chain that can't be sent goes back at once, with length 0, in its order.
  [[gnu::noinline]] void refuse(std::uint16_t head, RingError error) {
    copy_staged();
    count_refused(error);
    ring_.push_used(head, 0);
  }
  void count_refused(RingError error) {
    ++counters_.refused;
    counters_.last_error = error;
  }

  // Inlined by force where each packet passes: a call here saves every register.
  [[gnu::always_inline]] void copy_staged() {
    if (staged_count_ == 0) return;
    if (config_.copy_batch > 1) ring_.payload().begin_copies();
    for (std::uint32_t i = 0; i < staged_count_; ++i) {
      const Staged& staged = staged_[i];
      const RingError error =
          copy_frame(ring_.payload(), staged.chain, staged.request, staged.buffer);
      if (error == RingError::kNone) {
        batch_[batch_count_++] = staged.buffer;
      } else {
        buffers_.release(staged.buffer.hard_start);
        count_refused(error);
      }
      ring_.push_used(staged.chain.head, 0);
    }
    if (config_.copy_batch > 1) ring_.payload().end_copies();
    staged_count_ = 0;
  }

  // Hands the batch to the sink, then lets the driver have its buffers back.
  void flush() {
    if (batch_count_ > 0) send_batch();
    alone_count_ = 0;
    if (ring_.flush_used() > 0 && ring_.should_call()) {
      ++counters_.calls;
      caller_.call();
    }
  }

  void send_batch() {
    ++counters_.batches;
    if (sink_.send(batch())) {
      counters_.packets += batch_count_;
      for (const XdpBuffer& buffer : batch()) counters_.bytes += buffer.frame_bytes;
    } else {
      counters_.dropped += batch_count_;
      for (const XdpBuffer& buffer : batch()) buffers_.release(buffer.hard_start);
    }
    batch_count_ = 0;
  }

  // Frames sent or to be sent whose chains the driver doesn't have back.
  std::uint32_t unpublished() const { return batch_count_ + alone_count_; }

  DeviceRing<A, P> ring_;
  B& buffers_;
  S& sink_;
  C& caller_;
  NetTxConfig config_;
  TxSocket next_socket_;        // of the runs to come
  std::vector<Piece> pieces_;   // chain rooms of all staged chains
  std::vector<Staged> staged_;  // at least one: the chain being fetched
  std::uint32_t staged_count_ = 0;
  std::vector<XdpBuffer> batch_;  // copied, not yet sent: the first batch_count_
  std::uint32_t batch_count_ = 0;
  std::uint32_t alone_count_ = 0;  // sent alone, not yet published
  bool running_ = false;
  std::uint32_t run_packets_ = 0;
  std::uint64_t run_bytes_ = 0;  // one chain may have 2^32 - 1
  NetTxCounters counters_;
};

}  // namespace vringlab
