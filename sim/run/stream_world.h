// All objects of a scenario of TCP streams from a guest to its host, wired together: sessions
// go to queue pairs in turn, and pairs to workers.
#pragma once

#include <deque>
#include <memory>

#include "sim/run/stream_pair.h"

namespace vringlab::sim {

class StreamWorld {
 public:
  explicit StreamWorld(const Scenario& scenario);

  std::uint64_t latest_ps() const {
    std::uint64_t latest = 0;
    for (const Core* core : worker_cores) latest = std::max(latest, core->now());
    for (const Core* core : guest_cores) latest = std::max(latest, core->now());
    return latest;
  }
  // The first processor takes the interrupts of the first pair, so the guest's scheduler fills
  // it last.
  StreamCpu& cpu_of(std::size_t session) { return guest[(session + 1) % guest.size()]; }
  StreamPair& pair_of(std::size_t session) { return *pairs[session % pairs.size()]; }
  // Each pair interrupts one processor.
  StreamCpu& interrupted_by(std::size_t pair) { return guest[pair % guest.size()]; }

 private:
  using Layouts = std::vector<StreamLayout>;

  MemorySizes sizes_;
  Layouts layouts_;

  static Layouts lay_out(const Scenario& scenario, MemorySizes& sizes);
  Core& new_core();
  std::vector<Core*> new_cores(std::uint32_t count);

 public:
  NetMachine net;
  std::deque<Core> cores;
  std::vector<Core*> worker_cores;
  Core& control_core;
  std::vector<Core*> guest_cores;
  std::vector<Core*> reader_cores;
  std::deque<CoreShare> shares;  // of worker_cores
  Group<StreamPair::Thread> threads;
  Group<StreamCpu> guest;
  Group<StreamReader> readers;
  std::vector<std::unique_ptr<StreamPair>> pairs;
};

}  // namespace vringlab::sim
