// All objects of a scenario of queue pairs: each pair has a guest on a core of its own and,
// where frames come from outside, a generator in the host. Workers serve the queues of the
// pairs in turn; there may be fewer workers than pairs, and fewer cores than workers.
#pragma once

#include <deque>
#include <memory>

#include "sim/machine/group.h"
#include "sim/run/pairs.h"

namespace vringlab::sim {

template <class Pair>
class PairsWorld {
 public:
  explicit PairsWorld(const Scenario& scenario)
      : layouts_(lay_out(scenario, sizes_)),
        net(scenario, sizes_, static_cast<CoreId>(pair_cores(scenario))),
        control_core(new_core()),
        worker_cores(new_cores(worker_core_count(scenario))),
        guest_cores(new_cores(scenario.queue_pairs)),
        generator_cores(new_cores(Pair::kGenerates ? scenario.queue_pairs : 0)),
        reader_cores(new_cores(Pair::kSends && net.sink.is_read() ? scenario.queue_pairs : 0)) {
    for (Core* core : worker_cores) shares.emplace_back(*core);
    for (std::size_t i = 0; i < scenario.workers; ++i) threads.add(shares[i % shares.size()]);
    for (std::size_t i = 0; i < layouts_.size(); ++i) add_pair(scenario, i);
  }

  using Layouts = std::vector<typename Pair::Layout>;
  const Layouts& layouts() const { return layouts_; }  // by pair

 private:
  MemorySizes sizes_;
  Layouts layouts_;

 public:
  NetMachine net;
  std::deque<Core> cores;
  Core& control_core;
  std::vector<Core*> worker_cores;
  std::vector<Core*> guest_cores;
  std::vector<Core*> generator_cores;
  std::vector<Core*> reader_cores;
  std::deque<CoreShare> shares;  // of worker_cores
  Group<PairThread> threads;
  std::vector<std::unique_ptr<Pair>> pairs;
  Earliest<typename Pair::Guest> guests;
  Earliest<Generator> generators;
  Earliest<TapReader> readers;

 private:
  static Layouts lay_out(const Scenario& s, MemorySizes& sizes) {
    Layouts layouts;
    Layout guest(s.ring_offset);
    for (std::uint32_t i = 0; i < s.queue_pairs; ++i)
      layouts.push_back(Pair::lay_out(s, guest, sizes.host_bytes));
    sizes.guest_bytes = guest.end();
    return layouts;
  }

  Core& new_core() {
    return cores.emplace_back(net.machine, static_cast<CoreId>(cores.size()), net.operations,
                              net.tlb_pages());
  }
  std::vector<Core*> new_cores(std::uint32_t count) {
    std::vector<Core*> made;
    for (std::uint32_t i = 0; i < count; ++i) made.push_back(&new_core());
    return made;
  }

  void add_pair(const Scenario& s, std::size_t i) {
    PairThread& thread = threads[i % threads.size()];
    const PairCores of_pair{*guest_cores[i], thread.core(), control_core,
                            Pair::kGenerates ? generator_cores[i] : nullptr,
                            reader_cores.empty() ? nullptr : reader_cores[i]};
    Pair& pair =
        *pairs.emplace_back(std::make_unique<Pair>(net, s, layouts_[i], of_pair, thread, i));
    guests.add(pair.guest);
    if constexpr (Pair::kGenerates) generators.add(pair.rx.generator);
    if constexpr (Pair::kSends) {
      if (!reader_cores.empty()) readers.add(*pair.tx.reader);
    }
    net.machine.coherence.set_distance(of_pair.guest.id(), of_pair.worker.id(),
                                       distance_of(s.distance));
  }
};

}  // namespace vringlab::sim
