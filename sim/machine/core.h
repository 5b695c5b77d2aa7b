// A simulated core: an integer picosecond clock, loads still under way, and the
// ledger that says where each busy picosecond went.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/cost/ledger.h"
#include "sim/cost/model.h"
#include "sim/machine/coherence.h"
#include "sim/machine/tlb.h"

namespace vringlab::sim {

// A fixed sequence of costs, added up when the run starts, so that running it is
// one addition and one count.
struct Operation {
  struct Part {
    Step step;
    Cost cost;
    std::uint64_t ps;     // picoseconds in all
    std::uint64_t count;  // occurrences in one operation
  };
  Step step = Step::kPacket;  // of the access, and of a drain
  bool drains = false;        // waits for outstanding loads before anything else
  std::uint64_t lead_ps = 0;  // of what comes before its memory access
  std::uint64_t tail_ps = 0;  // of what comes after
  std::vector<Part> parts;
};

// What happens to an access beyond its operation: it misses, by where the line
// is. Each has one price, so that it is one addition and one count as well.
enum class Event : std::uint8_t {
  kLoad,                                                      // + Level: a load missed L1
  kStore = kLoad + static_cast<std::uint8_t>(Level::kCount),  // + Level: a store did
  kLineStream = kStore + static_cast<std::uint8_t>(Level::kCount),
  kRemoteHome,
  kStlbHit,
  kPageWalk,
  kCount
};
inline constexpr std::size_t kEvents = static_cast<std::size_t>(Event::kCount);

// What all cores share.
struct Machine {
  CostModel costs;
  Coherence coherence;
  std::array<std::uint64_t, static_cast<std::size_t>(Level::kCount)> latency_ps{};
  std::array<std::uint64_t, kEvents> event_ps{};  // the part of a latency that is waited for
  std::uint64_t copy_ps_per_byte_q16 = 0;         // picoseconds a byte copied, times 2^16
  const std::byte* arena = nullptr;               // simulated memory; lines count from here
  LineId remote_begin = 0;                        // lines whose home is the other socket
  LineId remote_lines = 0;

  Machine(const CostModel& costs, Coherence coherence, const std::byte* arena);
};

// The line of a byte, counted from the start of simulated memory.
constexpr LineId line_at(std::uint64_t offset) { return static_cast<LineId>(offset / 64); }

class Core {
 public:
  // `pages`: how many numbers touch_page takes.
  Core(Machine& machine, CoreId id, std::span<const Operation> operations, std::uint32_t pages);

  std::uint64_t now() const { return clock_ps_; }
  CoreId id() const { return id_; }
  Machine& machine() { return *machine_; }
  LineId line_of(const void* address) const { return line_at(offset_of(address)); }
  // Does it lie in simulated memory? What doesn't, on a stack say, is always in L1.
  bool simulated(const void* address) const { return offset_of(address) < arena_bytes_; }
  // Bytes from the start of simulated memory.
  std::uint64_t offset_of(const void* address) const {
    return static_cast<std::uint64_t>(static_cast<const std::byte*>(address) - arena_);
  }

  Core(const Core&) = delete;  // points into itself
  Core& operator=(const Core&) = delete;

  // Operation `op` of the table the core was made with, up to its memory access.
  void begin(std::size_t op) {
    HotOperation& operation = hot_[op];
    if (operation.drains) drain(operation.step);
    clock_ps_ += operation.lead_ps;
    ++operation.count;
  }
  // What comes after the access: it hides a part of the access's latency.
  void end(std::size_t op) { clock_ps_ += hot_[op].tail_ps; }
  // An operation without a memory access.
  [[gnu::always_inline]] void run(std::size_t op) {
    HotOperation& operation = hot_[op];
    if (operation.drains) drain(operation.step);
    clock_ps_ += operation.all_ps;
    ++operation.count;
  }
  // The same, `times` over; nothing may be outstanding.
  void run_times(std::size_t op, std::uint64_t times) {
    clock_ps_ += operation_ps(op) * times;
    hot_[op].count += times;
  }
  std::uint64_t operation_ps(std::size_t op) const { return hot_[op].all_ps; }

  void charge(Cost cost, Step step, std::uint64_t ps, std::uint64_t count = 1) {
    clock_ps_ += ps;
    ledger_.add(cost, step, ps, count);
  }

  // A load of one line. Costs nothing beyond its operation if it hits L1;
  // otherwise part of the latency is waited for and part stays outstanding.
  void load(LineId line, Step step) {
    if (!l1_.reads(line)) [[unlikely]]
      load_miss(line, step);
  }

  // A store of one line: the store buffer hides most of a miss.
  void store(LineId line, Step step) {
    if (!l1_.writes(line)) [[unlikely]]
      store_miss(line, step);
  }

  // Loads of the lines first..last by one copy: one latency, then a rate.
  void load_lines(LineId first, LineId last, Step step) {
    if (first == last) {
      load(first, step);
    } else {
      load_many(first, last, step);
    }
  }
  void store_lines(LineId first, LineId last, Step step) {
    if (first == last) {
      store(first, step);
    } else {
      store_many(first, last, step);
    }
  }

  // The bytes of one copy, both ends in L1.
  void copy_bytes(std::uint32_t bytes, Step step) {
    charge(Cost::kCopyBytes, step, (bytes * machine_->copy_ps_per_byte_q16) >> 16, bytes);
  }

  // The data TLB entry of a page; numbers are given by page size and mapping.
  void touch_page(std::uint32_t page, Step step) {
    if (!tlb_.l1_holds(page)) [[unlikely]]
      tlb_miss(page, step);
  }

  // Nothing to do until `at_ps`; a time in the past is no wait.
  void idle_until(std::uint64_t at_ps) {
    if (at_ps <= clock_ps_) return;
    idle_ps_ += at_ps - clock_ps_;
    clock_ps_ = at_ps;
  }

  std::uint64_t idle_ps() const { return idle_ps_; }
  std::uint64_t busy_ps() const { return clock_ps_ - idle_ps_; }

  // The ledger with all counted operations in it.
  Ledger ledger() const;

 private:
  // What begin and end need of an Operation.
  struct HotOperation {
    std::uint64_t lead_ps;
    std::uint64_t tail_ps;
    std::uint64_t all_ps;  // both
    std::uint64_t count;
    Step step;
    bool drains;
  };

  // An event's price, and how often each step had it.
  struct EventCount {
    std::uint64_t ps;
    std::array<std::uint64_t, kSteps> times;
  };

  // A barrier lets nothing later start before the oldest outstanding load is
  // done: what out-of-order execution would have hidden is waited for.
  void drain(Step step);
  void count(Event event, Step step) {
    EventCount& counted = events_[static_cast<std::size_t>(event)];
    clock_ps_ += counted.ps;
    ++counted.times[index(step)];
  }
  // Each way that a miss can go is a function of its own, so that none has to save
  // registers for another.
  void load_miss(LineId line, Step step);
  void load_modified(LineId line, Step step);
  void load_unmodified(LineId line, Step step);
  void load_many(LineId first, LineId last, Step step);
  void store_miss(LineId line, Step step);
  void store_many(LineId first, LineId last, Step step);
  void store_unshared(LineId line, Step step);
  void store_contended(LineId line, Step step);
  void wait_for(Level level, LineId line, Step step);
  void tlb_miss(std::uint32_t page, Step step);

  std::uint64_t clock_ps_ = 0;
  std::uint64_t outstanding_ps_ = 0;  // when the last of the outstanding loads is done
  PrivateCaches::L1::View l1_;
  const std::byte* arena_;
  std::uint64_t arena_bytes_;
  HotOperation* hot_;  // operations_
  Tlb tlb_;
  PrivateCaches* caches_;
  Machine* machine_;
  CoreId id_;
  std::uint64_t idle_ps_ = 0;  // part of the clock spent waiting
  std::vector<HotOperation> operations_;
  std::span<const Operation> table_;
  std::array<EventCount, kEvents> events_{};
  Ledger ledger_;  // what was charged one by one
};

// How many polls, at `now` and every `period` after it, come before an event at
// `event`; `first`: a poll at the very time of the event does. A row of polls
// that find nothing is accounted at once by this number: each of them hits its
// own L1, as nobody wrote the line meanwhile, so all cost the same.
constexpr std::uint64_t polls_before(std::uint64_t now, std::uint64_t event, std::uint64_t period,
                                     bool first) {
  if (event < now || (event == now && !first)) return 0;
  if (period == 0) return 0;
  const std::uint64_t span = event - now;
  return first ? span / period + 1 : (span + period - 1) / period;
}

}  // namespace vringlab::sim
