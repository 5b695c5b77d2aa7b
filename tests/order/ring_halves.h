// The two halves of a virtqueue of two entries as programs for the explorer:
// the real DriverRing and DeviceRing, each in the loop that uses them.
#pragma once

#include <array>
#include <string>

#include "core/driver/driver_ring.h"
#include "core/ring/device_ring.h"
#include "tests/order/explorer.h"
#include "tests/order/ring_access.h"

namespace vringlab::order {

struct Scenario {
  bool event_idx = false;
  std::uint16_t start = 0;          // both free-running indices at the start
  std::uint16_t requests = 2;       // to be served
  bool two_descriptors = false;     // request and response in each chain; else they take turns
  std::uint16_t publish_batch = 1;  // chains added before a publish
  std::uint16_t flush_batch = 1;    // completions before a flush
  bool delayed_callback = false;
  OrderPoint disabled = OrderPoint::kCount;  // the point left out

  QueueConfig queue() const {
    QueueConfig config;
    config.size = kRingSize;
    if (event_idx) config.features = feature(kFeatureRingEventIdx);
    return config;
  }
  bool has_request(std::uint16_t n) const { return two_descriptors || n % 2 == 0; }
  bool has_response(std::uint16_t n) const { return two_descriptors || n % 2 == 1; }
};

constexpr std::uint64_t request_value(std::uint16_t n) { return 0x100u + n; }
constexpr std::uint64_t response_value(std::uint16_t n) { return 0x200u + n; }

// Every field of a half's state as text. Bindings, so that a field added to the
// state must be added here.
template <class... Fields>
std::string join(const Fields&... fields) {
  return ((std::to_string(static_cast<unsigned>(fields)) + ' ') + ...);
}
inline std::string digest(const DriverRingState& state) {
  const auto& [size, event_idx, indirect, maps, premapped, calls_suppressed, free_head, free_count,
               next_avail, published_avail, kicked_avail, used_idx, last_used, in_flight,
               detach_cursor, broken] = state;
  return join(size, event_idx, indirect, maps, premapped, calls_suppressed, free_head, free_count,
              next_avail, published_avail, kicked_avail, used_idx, last_used, in_flight,
              detach_cursor, broken);
}
inline std::string digest(const DeviceRingState& state) {
  const auto& [size, event_idx, indirect, signalled_valid, kick_suppressed, avail_idx, next_avail,
               next_used, pending_used, signalled_used, broken] = state;
  return join(size, event_idx, indirect, signalled_valid, kick_suppressed, avail_idx, next_avail,
              next_used, pending_used, signalled_used, broken);
}

// The driver: fills the ring, kicks, reaps, sleeps until called.
class DriverHalf {
 public:
  DriverHalf(Tape& tape, const Scenario& scenario)
      : tape_(tape), scenario_(scenario), ring_({{&tape, scenario.disabled}}, scenario.queue()) {
    ring_.start(scenario.start);
  }

  void run() {
    while (true) {
      while (can_send()) send_batch();
      same('d');
      ring_.disable_callback();
      while (const auto completion = ring_.reap()) check(*completion);
      tape_.expect(ring_.state().broken == RingError::kNone, "driver: stale used element");
      if (reaped_ == scenario_.requests) return;
      if (can_send()) continue;
      same('e');
      if (!(scenario_.delayed_callback ? ring_.enable_callback_delayed() : ring_.enable_callback()))
        tape_.await();
    }
  }

 private:
  // All that this half remembers: where it is, what it did in which order (heads
  // and links follow from that), and the state of its ring.
  void same(char where) { tape_.same(where + log_ + ' ' + digest(ring_.state())); }

  std::uint16_t need() const { return scenario_.two_descriptors ? 2 : 1; }
  bool can_send() const { return sent_ < scenario_.requests && ring_.state().free_count >= need(); }

  void send_batch() {
    for (std::uint16_t i = 0; i < scenario_.publish_batch && can_send(); ++i) send(sent_++);
    ring_.publish();
    if (sent_ == scenario_.requests) seal();
    if (ring_.kick_needed()) tape_.ring();
    same('s');
  }
  // All is sent: only the wish for calls is still to change.
  void seal() {
    for (Location at = kDescTable; at < kUsedEvent; ++at) {
      if (at != kAvailFlags) tape_.seal(at);
    }
  }
  void send(std::uint16_t n) {
    const Buffer request{guest_address(offset(kRequest, n)), kDataBytes};
    const Buffer response{guest_address(offset(kResponse, n)), kDataBytes};
    if (scenario_.has_request(n)) tape_.store(offset(kRequest, n), {request_value(n)});
    tape_.seal(offset(kRequest, n));
    const auto head =
        ring_.add({&request, scenario_.has_request(n)}, {&response, scenario_.has_response(n)}, n);
    tape_.expect(head.ok(), "driver: no room");
    log_ += 'a';
  }

  void check(const Completion& completion) {
    const std::uint16_t n = reaped_++;
    const bool wrote = scenario_.has_response(n);
    tape_.expect(completion.token == n, "driver: stale used element");
    tape_.expect(completion.written_bytes == (wrote ? kDataBytes : 0),
                 "driver: stale used element");
    if (wrote)
      tape_.expect(tape_.load(offset(kResponse, n)).low == response_value(n),
                   "driver: stale response");
    log_ += 'r';
    same('r');
  }

  Tape& tape_;
  const Scenario& scenario_;
  DriverRing<ExplorerDriverAccess> ring_;
  std::uint16_t sent_ = 0;
  std::uint16_t reaped_ = 0;
  std::string log_;  // what was added and reaped, in order
};

// The device: drains the ring without notifications, arms them, sleeps until kicked.
class DeviceHalf {
 public:
  DeviceHalf(Tape& tape, const Scenario& scenario)
      : tape_(tape),
        scenario_(scenario),
        ring_({{&tape, scenario.disabled}}, {&tape}, scenario.queue()) {
    ring_.start(scenario.start);
  }

  void run() {
    while (true) {
      same('d');
      ring_.disable_notify();
      drain();
      if (served_ == scenario_.requests) return;
      same('e');
      if (!ring_.enable_notify()) tape_.await();
    }
  }

 private:
  // As for the driver.
  void same(char where) { tape_.same(where + log_ + ' ' + digest(ring_.state())); }

  void drain() {
    std::array<Piece, kRingSize> room;
    Chain chain{.room = room};
    RingError error = RingError::kNone;
    Fetch fetch = Fetch::kEmpty;
    while (served_ < scenario_.requests &&
           (fetch = ring_.next_chain(chain, error)) == Fetch::kHead) {
      tape_.expect(error == RingError::kNone, "device: stale descriptor");
      serve(chain, served_++);
      same('s');
      if (ring_.state().pending_used == scenario_.flush_batch) flush();
      same('f');
    }
    tape_.expect(fetch != Fetch::kBroken, "device: stale avail entry");
    flush();
  }

  void flush() {
    if (ring_.flush_used() == 0) return;
    if (served_ == scenario_.requests) {
      for (Location at = kUsedFlags; at < kRequest; ++at) tape_.seal(at);
    }
    log_ += 'u';
    if (ring_.should_call()) tape_.ring();
  }

  void serve(const Chain& chain, std::uint16_t n) {
    const bool reads = scenario_.has_request(n);
    const bool writes = scenario_.has_response(n);
    tape_.expect(is(chain.readable(), reads, offset(kRequest, n)), "device: stale descriptor");
    tape_.expect(is(chain.writable(), writes, offset(kResponse, n)), "device: stale descriptor");
    if (reads) read(chain.readable()[0], n);
    if (writes) write(chain.writable()[0], n);
    tape_.seal(offset(kResponse, n));
    ring_.push_used(chain.head, writes ? kDataBytes : 0);
    log_ += static_cast<char>('0' + chain.head);
  }
  static bool is(std::span<const Piece> pieces, bool wanted, Location at) {
    if (!wanted) return pieces.empty();
    return pieces.size() == 1 && pieces[0].len == kDataBytes &&
           pieces[0].host == ExplorerPayload::host(at);
  }
  void read(const Piece& piece, std::uint16_t n) {
    std::uint32_t value = 0;
    ring_.payload().copy_in(Transfer::kPayload, reinterpret_cast<std::byte*>(&value), piece.host,
                            piece.len);
    tape_.expect(value == request_value(n), "device: stale request");
  }
  void write(const Piece& piece, std::uint16_t n) {
    const auto value = static_cast<std::uint32_t>(response_value(n));
    ring_.payload().copy_out(Transfer::kPayload, piece.host,
                             reinterpret_cast<const std::byte*>(&value), piece.len);
  }

  Tape& tape_;
  const Scenario& scenario_;
  DeviceRing<ExplorerDeviceAccess, ExplorerPayload> ring_;
  std::uint16_t served_ = 0;
  std::string log_;  // heads served and flushes, in order
};

// One line a turn, the driver at the left. `@n`: the location's n-th store.
inline std::string format(const std::vector<Step>& trace) {
  static constexpr const char* kTurns[] = {"loads ", "full fence", "rings", "wakes"};
  std::string text;
  for (const Step& step : trace) {
    text += step.half == 0 ? "  driver " : "                                device ";
    text += kTurns[static_cast<std::size_t>(step.action)];
    if (step.action == Action::kLoad)
      text += name_of(step.at) + "@" + std::to_string(step.time) + " = " +
              std::to_string(step.value.low);
    text += '\n';
  }
  return text;
}

inline Outcome explore(const Scenario& scenario, bool ordered_doorbells) {
  Explorer explorer({Program([&](Tape& tape) { DriverHalf(tape, scenario).run(); }),
                     Program([&](Tape& tape) { DeviceHalf(tape, scenario).run(); })},
                    ordered_doorbells);
  for (std::size_t at = 0; at < kLocations; ++at) {
    const bool index = at == kAvailIdx || at == kUsedIdx;
    explorer.initialise(static_cast<Location>(at), {index ? scenario.start : std::uint64_t{0}});
  }
  return explorer.run();
}

}  // namespace vringlab::order
