// Records what cores do, and when, for a short run: where each busy picosecond of a
// core is on its clock. Nothing of it is in Core, so a run without one pays a branch
// a step of the scheduler.
#pragma once

#include <string>
#include <vector>

#include "sim/machine/core.h"

namespace vringlab::sim {

// Time that a core spent on one cost, within a slice.
struct TracePart {
  Cost cost;
  std::uint64_t ps;
  std::uint64_t count;
};

// One ledger step of one step of the scheduler. Slices of that step lie end to end in
// the order of a packet's life, which need not be the order they ran in.
struct TraceSlice {
  std::uint32_t core;  // of Trace::cores
  Step step;
  std::uint64_t start_ps;
  std::uint64_t ps;
  std::uint32_t first_part;  // of Trace::parts
  std::uint32_t parts;
};

enum class TraceFlowKind : std::uint8_t { kKick, kCall };

// A kick or a call, from one core to another.
struct TraceFlow {
  TraceFlowKind kind;
  std::uint32_t from;
  std::uint32_t to;
  std::uint64_t at_ps;  // on the clock of `from`
};

struct Trace {
  std::vector<std::string> cores;  // names; empty for a core that no result lists
  std::vector<TraceSlice> slices;
  std::vector<TracePart> parts;
  std::vector<TraceFlow> flows;
};

// Cores made while a recorder lives are its cores, and must live until their results
// are collected.
class Recorder {
 public:
  static constexpr std::size_t kMaxSlices = 500000;

  Recorder() { current_ = this; }
  ~Recorder() { current_ = nullptr; }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Of this thread; null if nothing is recorded.
  static Recorder* current() { return current_; }

  void add(const Core& core);
  // What the cores have done since they were last asked. Throws std::invalid_argument
  // when there are too many slices.
  void flush_all();
  // The same of one core, for the last time, and what results call it.
  void finish(const Core& core, std::string name);
  void flow(TraceFlowKind kind, const Core& from, std::uint64_t at_ps, const Core& to);
  // The same for a kick whose core is not known: it is the one that kicked last.
  void kick(std::uint64_t at_ps, const Core& to);

  const Trace& trace() const { return trace_; }

 private:
  struct Seen {
    const Core* core;
    std::uint64_t busy_ps = 0;
    Ledger ledger;
  };

  void flush(std::uint32_t number);
  void add_slice(std::uint32_t number, Step step, std::uint64_t start_ps, const Ledger& before,
                 const Ledger& now);
  std::uint32_t number_of(const Core& core) const;

  static inline thread_local Recorder* current_ = nullptr;
  std::vector<Seen> seen_;
  Trace trace_;
};

}  // namespace vringlab::sim
