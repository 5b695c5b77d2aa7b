// An operational model of weak memory: all shared accesses are relaxed, and
// fences alone order them. It follows the view-based semantics of C++ relaxed
// atomics with release, acquire and seq_cst fences. A store leaves a message
// behind, a load may take any message that its thread has not been told is
// outdated. That allows all that store buffers allow (a store still in the buffer is a
// message nobody has to see yet) and, beyond x86, loads and stores that overtake
// each other; only a load that sees a store of its own future is left out.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <compare>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "core/memory/order.h"

namespace vringlab::order {

using Location = std::uint8_t;
inline constexpr std::size_t kLocations = 18;

// What one location holds: up to a whole descriptor, which is read in one go.
struct Word {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  auto operator<=>(const Word&) const = default;
};

// For each location the time of the newest message known.
struct View {
  std::array<std::uint8_t, kLocations> time{};

  void join(const View& other) {
    for (std::size_t i = 0; i < kLocations; ++i) time[i] = std::max(time[i], other.time[i]);
  }
  // Drops what a thread that knows `other` would not learn.
  void drop_known(const View& other) {
    for (std::size_t i = 0; i < kLocations; ++i) {
      if (time[i] <= other.time[i]) time[i] = 0;
    }
  }
};

// What both views know.
inline View common(const View& a, const View& b) {
  View both;
  for (std::size_t i = 0; i < kLocations; ++i) both.time[i] = std::min(a.time[i], b.time[i]);
  return both;
}

struct Message {
  Location at = 0;
  std::uint8_t time = 0;  // 0 is the initial value; each store to `at` adds one
  Word value;
  View released;  // what a thread that acquires this message learns
};

struct ThreadView {
  View current;   // older messages can't be read any more
  View acquired;  // what an acquire fence would make current
  View released;  // what the next store carries: current at the last release fence
};

class WeakMemory {
 public:
  // Every location has one writer, so its messages are ordered by their stores.
  void store(ThreadView& thread, Location at, const Word& value) {
    if (sealed_[at]) throw std::logic_error("store after seal");
    const auto time = static_cast<std::uint8_t>(thread.current.time[at] + 1);
    thread.current.time[at] = thread.acquired.time[at] = time;
    Message message{at, time, value, thread.released};
    message.released.time[at] = time;
    messages_.push_back(message);
  }

  void initialise(Location at, const Word& value) { messages_.push_back({at, 0, value, {}}); }

  void seal(Location at) { sealed_[at] = true; }
  bool sealed(Location at) const { return sealed_[at]; }

  // The messages that `thread` may load from `at`.
  std::vector<Message> readable(const ThreadView& thread, Location at) const {
    std::vector<Message> found;
    for (const Message& message : messages_) {
      if (message.at == at && message.time >= thread.current.time[at]) found.push_back(message);
    }
    return found;
  }

  static void load(ThreadView& thread, const Message& message) {
    std::uint8_t& time = thread.current.time[message.at];
    time = std::max(time, message.time);
    thread.acquired.join(thread.current);
    thread.acquired.join(message.released);
  }

  void fence(ThreadView& thread, OrderKind kind) {
    if (kind != OrderKind::kRelease) thread.current = thread.acquired;
    if (kind == OrderKind::kFull) {
      thread.current.join(full_);
      full_ = thread.acquired = thread.current;
    }
    if (kind != OrderKind::kAcquire) thread.released = thread.current;
  }

  // Forgets what can't be read or learnt any more, so that equal futures compare equal.
  void prune(ThreadView& a, ThreadView& b) {
    std::erase_if(messages_, [&](const Message& message) {
      return message.time < std::min(a.current.time[message.at], b.current.time[message.at]);
    });
    std::ranges::sort(messages_, {}, [](const Message& m) { return m.at * 256 + m.time; });
    for (Message& message : messages_) message.released.drop_known(common(a.acquired, b.acquired));
    a.released.drop_known(b.acquired);
    b.released.drop_known(a.acquired);
    full_.drop_known(common(a.current, b.current));
  }

  const std::vector<Message>& messages() const { return messages_; }
  const View& full() const { return full_; }

 private:
  std::vector<Message> messages_;
  std::bitset<kLocations> sealed_;  // its writer has promised to store no more
  View full_;                       // what the full fences so far have told each other
};

}  // namespace vringlab::order
