#include "sim/run/stream_world.h"

namespace vringlab::sim {

StreamWorld::Layouts StreamWorld::lay_out(const Scenario& given, MemorySizes& sizes) {
  const Scenario s = with_kernel_guest(given);
  Layouts layouts;
  Layout of_guest(s.ring_offset);
  for (std::uint32_t i = 0; i < s.queue_pairs; ++i)
    layouts.push_back(place_stream(s, of_guest, sizes.host_bytes));
  sizes.guest_bytes = of_guest.end();
  return layouts;
}

Core& StreamWorld::new_core() {
  return cores.emplace_back(net.machine, static_cast<CoreId>(cores.size()), net.operations,
                            net.tlb_pages());
}

std::vector<Core*> StreamWorld::new_cores(std::uint32_t count) {
  std::vector<Core*> made;
  for (std::uint32_t i = 0; i < count; ++i) made.push_back(&new_core());
  return made;
}

StreamWorld::StreamWorld(const Scenario& given)
    : layouts_(lay_out(given, sizes_)),
      net(given, sizes_, static_cast<CoreId>(stream_cores(given))),
      worker_cores(new_cores(worker_core_count(given))),
      control_core(new_core()),
      guest_cores(new_cores(given.vcpus)),
      reader_cores(new_cores(given.sessions)) {
  const Scenario s = with_kernel_guest(given);
  for (Core* core : worker_cores) shares.emplace_back(*core);
  for (std::size_t i = 0; i < s.workers; ++i) threads.add(shares[i % shares.size()]);
  for (Core* core : guest_cores) guest.add(*core);
  for (std::size_t i = 0; i < s.queue_pairs; ++i)
    pairs.push_back(std::make_unique<StreamPair>(net, s, layouts_[i], interrupted_by(i),
                                                 control_core, readers,
                                                 threads[i % threads.size()]));
  for (std::uint16_t i = 0; i < s.sessions; ++i) {
    StreamPair& pair = pair_of(i);
    readers.add(*reader_cores[i], i, s.workload == "rr" ? &pair.tap : nullptr, pair.acked);
    cpu_of(i).run_session(pair.stack, i);
  }
  for (const Core* core : guest_cores) {
    for (const Core* worker : worker_cores)
      net.machine.coherence.set_distance(core->id(), worker->id(), distance_of(s.distance));
  }
}

}  // namespace vringlab::sim
