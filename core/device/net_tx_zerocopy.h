// The transmit loop of a network device that lends long frames to the sink instead of
// copying them: the life of a buffer from avail entry to used element, in reading order.
// One turn takes one packet. Where a turn says that what was taken has been published,
// here that ends before the first chain whose frame is lent.
//
// Frames reach the sink in the order their chains were taken, and chains go back in that
// order too, whatever the order the sink completes them in. Above the limit of lent frames
// the loop copies, as vhost-net has since it ceased to stop there: one frame held up by a
// slow reader then stalls none behind it at the sink. What stays bounded is the memory lent
// out; a driver whose chains all wait behind such a frame has no more to offer.
#pragma once

#include <algorithm>
#include <vector>

#include "core/backend/net/tx_copy.h"
#include "core/backend/net/zerocopy.h"
#include "core/backend/net/zerocopy_sink.h"
#include "core/device/turn.h"
#include "core/ring/device_ring.h"

namespace vringlab {

struct NetTxZeroCopyConfig {
  std::uint32_t zerocopy_min_bytes = 256;  // shorter frames are copied; header not counted
  std::uint32_t zerocopy_max_pending =
      128;                       // frames lent at once, if a quarter of the ring is more
  std::uint32_t used_batch = 1;  // once so many chains can go back, they do
  std::uint32_t header_bytes = sizeof(VirtioNetHdr);
  Weight weight{};
};

struct NetTxZeroCopyCounters {
  std::uint64_t taken = 0;      // chains fetched, well-formed or not
  std::uint64_t packets = 0;    // frames accepted by the sink
  std::uint64_t bytes = 0;      // their length, header not counted
  std::uint64_t borrowed = 0;   // of the packets, those lent to the sink
  std::uint64_t fallbacks = 0;  // of those, the ones it copied after all
  std::uint64_t refused = 0;    // chains given back unsent, length 0
  std::uint64_t calls = 0;      // driver notified
  RingError last_error = RingError::kNone;
};

template <RingAccess A, PayloadAccess P, ZeroCopySink<P> S, Caller C>
class NetTxZeroCopy {
 public:
  NetTxZeroCopy(DeviceRing<A, P> ring, S& sink, C& caller, const NetTxZeroCopyConfig& config,
                std::size_t regions)
      : ring_(std::move(ring)),
        sink_(sink),
        caller_(caller),
        config_(config),
        max_pending_(std::min(config.zerocopy_max_pending, ring_.state().size / 4u)),
        slots_(ring_.state().size),
        pieces_(chain_room(ring_.state().size, regions)) {
    chain_.room = pieces_;
  }

  // Gives back what can be, then takes at most one packet.
  Turn step() {
    if (!running_) begin_run();
    retire();
    if (ring_.state().pending_used >= config_.used_batch) flush();
    RingError error = RingError::kNone;
    const Fetch fetch = ring_.next_chain(chain_, error);
    if (fetch != Fetch::kHead)
      return end_run(fetch == Fetch::kEmpty ? Turn::kEmpty : Turn::kBroken);
    ++counters_.taken;
    if (error == RingError::kNone) error = send();
    if (error == RingError::kNoBuffer) return put_back();
    if (error != RingError::kNone) refuse(error);
    run_bytes_ += chain_.readable_bytes;
    if (++run_packets_ >= config_.weight.packets || run_bytes_ >= config_.weight.bytes)
      return end_run(Turn::kYield);
    return Turn::kPacket;
  }

  // The sink has done with a frame it took by send_borrowed; `copied`: it had to copy it
  // after all. Called on the thread of the loop. If finished() holds afterwards and the
  // worker sleeps, it should be woken, at the latest when pending() has become 0.
  void complete(std::uint16_t slot, bool copied) {
    slots_.complete(slot);
    if (!copied) return;
    ++counters_.fallbacks;
    record_.count_failure();
  }

  // Frames that the sink has borrowed and not completed.
  std::uint16_t pending() const { return slots_.lent(); }

  // Would a turn give chains back?
  bool finished() const { return slots_.finished(); }

  // Ends the run where it is: what can be given back is published.
  void finish() { end_run(Turn::kYield); }

  // Back to a new queue; nothing more is written. False, and nothing done, while frames
  // are pending: the sink still reads guest memory, which may go away after a reset.
  [[nodiscard]] bool reset() {
    if (pending() > 0) return false;
    slots_.clear();
    record_ = {};
    running_ = false;
    ring_.reset();
    return true;
  }

  // Asks for kicks before going to sleep; true: there is work already, go on.
  bool arm() { return ring_.enable_notify() || finished(); }

  // For a device that polls before it sleeps.
  bool work_pending() { return finished() || ring_.work_pending(); }

  DeviceRing<A, P>& ring() { return ring_; }
  const NetTxZeroCopyCounters& counters() const { return counters_; }

 private:
  void begin_run() {
    running_ = true;
    run_packets_ = 0;
    run_bytes_ = 0;
    ring_.disable_notify();
  }

  [[gnu::noinline]] Turn end_run(Turn why) {
    running_ = false;
    retire();
    flush();
    return why;
  }

  // A well-formed chain goes to the sink, lent or to be copied.
  RingError send() {
    // No XDP buffer is made, so its headroom is of no concern.
    const auto request = parse_tx(chain_, config_.header_bytes, false);
    if (!request.ok()) return request.error();
    const RingError error =
        lends(request.value()) ? send_borrowed(request.value()) : send_copied(request.value());
    if (error != RingError::kNone) return error;
    ++counters_.packets;
    counters_.bytes += request.value().frame_bytes;
    record_.count_packet();
    return RingError::kNone;
  }

  bool lends(const TxRequest& request) const {
    return request.frame_bytes >= config_.zerocopy_min_bytes && pending() < max_pending_ &&
           record_.pays();
  }

  // The slot is taken before the sink gets the frame: it may complete it at once.
  RingError send_borrowed(const TxRequest& request) {
    RingError error = copy_header(ring_.payload(), chain_, request, header_);
    if (error != RingError::kNone) return error;
    const std::uint16_t slot = slots_.lend(chain_.head);
    error = sink_.send_borrowed(ring_.payload(), {chain_, request, more_follows()}, header_, slot);
    if (error == RingError::kNone) {
      ++counters_.borrowed;
    } else {
      slots_.roll_back();
    }
    return error;
  }

  RingError send_copied(const TxRequest& request) {
    const RingError error = sink_.send_alone(ring_.payload(), {chain_, request, more_follows()});
    if (error == RingError::kNone) slots_.record_done(chain_.head);
    return error;
  }

  // At the limit the sink should hold nothing back: what is pending had better complete.
  bool more_follows() const {
    return ring_.seen_pending() && run_packets_ + 1 < config_.weight.packets &&
           run_bytes_ + chain_.readable_bytes < config_.weight.bytes &&
           (pending() == 0 || pending() < max_pending_);
  }

  // No buffer now: the chain stays available, and a later run begins with it.
  Turn put_back() {
    counters_.last_error = RingError::kNoBuffer;
    --counters_.taken;
    ring_.discard(1);
    return end_run(Turn::kEmpty);
  }

  // A chain that can't be sent goes back with length 0, when its turn comes.
  [[gnu::noinline]] void refuse(RingError error) {
    ++counters_.refused;
    counters_.last_error = error;
    slots_.record_done(chain_.head);
  }

  // Every chain that waits for none before it is complete.
  void retire() {
    slots_.retire([this](std::uint16_t head) { ring_.push_used(head, 0); });
  }

  void flush() {
    if (ring_.flush_used() > 0 && ring_.should_call()) {
      ++counters_.calls;
      caller_.call();
    }
  }

  DeviceRing<A, P> ring_;
  S& sink_;
  C& caller_;
  NetTxZeroCopyConfig config_;
  std::uint32_t max_pending_;  // frames lent at once; 0 on rings below four: all are copied
  ZeroCopySlots slots_;        // chains taken and not complete; they outlive runs
  ZeroCopyRecord record_;
  std::vector<Piece> pieces_;  // room of the chain at hand
  Chain chain_;                // the chain at hand
  VirtioNetHdr header_;        // of the frame lent last; what a short header lacks stays zero
  bool running_ = false;
  std::uint32_t run_packets_ = 0;
  std::uint64_t run_bytes_ = 0;  // one chain may have 2^32 - 1
  NetTxZeroCopyCounters counters_;
};

}  // namespace vringlab
