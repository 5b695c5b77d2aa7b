#include "sim/run/scenario.h"

#include <pybind11/stl.h>

#include <map>

#include "bindings/module.h"

namespace vringlab::bindings {
namespace {

std::map<std::string, double> costs(const sim::Scenario& s) {
  std::map<std::string, double> values;
  for (const sim::CostOverride& o : s.costs) values[o.name] = o.value;
  return values;
}

void set_costs(sim::Scenario& s, const std::map<std::string, double>& values) {
  s.costs.clear();
  for (const auto& [name, value] : values) s.costs.push_back({name, value});
}

void bind_blk(pybind11::module_& m) {
  using sim::BlkScenario;
  pybind11::class_<BlkScenario>(m, "BlkScenario")
      .def(pybind11::init<>())
      .def_readwrite("form", &BlkScenario::form)
      .def_readwrite("disk", &BlkScenario::disk)
      .def_readwrite("disk_bytes", &BlkScenario::disk_bytes)
      .def_readwrite("cache", &BlkScenario::cache)
      .def_readwrite("engine", &BlkScenario::engine)
      .def_readwrite("pool_threads", &BlkScenario::pool_threads)
      .def_readwrite("merge_writes", &BlkScenario::merge_writes)
      .def_readwrite("kick", &BlkScenario::kick)
      .def_readwrite("interrupt", &BlkScenario::interrupt)
      .def_readwrite("sector_shift", &BlkScenario::sector_shift)
      .def_readwrite("queues", &BlkScenario::queues)
      .def_readwrite("operation", &BlkScenario::operation)
      .def_readwrite("pattern", &BlkScenario::pattern)
      .def_readwrite("read_share", &BlkScenario::read_share)
      .def_readwrite("block_bytes", &BlkScenario::block_bytes)
      .def_readwrite("jobs", &BlkScenario::jobs)
      .def_readwrite("queue_depth", &BlkScenario::queue_depth)
      .def_readwrite("flush_every", &BlkScenario::flush_every)
      .def_readwrite("segment_bytes", &BlkScenario::segment_bytes)
      .def_readwrite("max_segments", &BlkScenario::max_segments)
      .def_readwrite("request_bytes", &BlkScenario::request_bytes)
      .def_readwrite("read_ahead_bytes", &BlkScenario::read_ahead_bytes)
      .def_readwrite("cache_bytes", &BlkScenario::cache_bytes)
      .def_readwrite("dirty_share", &BlkScenario::dirty_share)
      .def_readwrite("background_share", &BlkScenario::background_share)
      .def_readwrite("data", &BlkScenario::data);
}

}  // namespace

void bind_scenario(pybind11::module_& m) {
  using sim::Scenario;
  bind_blk(m);
  pybind11::class_<Scenario>(m, "Scenario")
      .def(pybind11::init<>())
      .def_readwrite("host", &Scenario::host)
      .def_readwrite("kernel", &Scenario::kernel)
      .def_property("costs", &costs, &set_costs)
      .def_readwrite("distance", &Scenario::distance)
      .def_readwrite("ring_remote", &Scenario::ring_remote)
      .def_readwrite("guest_page_bytes", &Scenario::guest_page_bytes)
      .def_readwrite("workload", &Scenario::workload)
      .def_readwrite("guest", &Scenario::guest)
      .def_readwrite("guest_notify", &Scenario::guest_notify)
      .def_readwrite("packets", &Scenario::packets)
      .def_readwrite("packet_bytes", &Scenario::packet_bytes)
      .def_readwrite("guest_burst", &Scenario::guest_burst)
      .def_readwrite("mergeable", &Scenario::mergeable)
      .def_readwrite("iommu", &Scenario::iommu)
      .def_readwrite("dma_merge", &Scenario::dma_merge)
      .def_readwrite("fragment_bytes", &Scenario::fragment_bytes)
      .def_readwrite("min_buffer_bytes", &Scenario::min_buffer_bytes)
      .def_readwrite("napi_defer_us", &Scenario::napi_defer_us)
      .def_readwrite("napi_tx", &Scenario::napi_tx)
      .def_readwrite("xsk_ring", &Scenario::xsk_ring)
      .def_readwrite("receive_buffer_bytes", &Scenario::receive_buffer_bytes)
      .def_readwrite("iotlb_entries", &Scenario::iotlb_entries)
      .def_readwrite("swiotlb_slots", &Scenario::swiotlb_slots)
      .def_readwrite("rx_buffer_bytes", &Scenario::rx_buffer_bytes)
      .def_readwrite("split_header", &Scenario::split_header)
      .def_readwrite("sender", &Scenario::sender)
      .def_readwrite("offered_pps", &Scenario::offered_pps)
      .def_readwrite("arrival", &Scenario::arrival)
      .def_readwrite("queue_pairs", &Scenario::queue_pairs)
      .def_readwrite("workers", &Scenario::workers)
      .def_readwrite("worker_cores", &Scenario::worker_cores)
      .def_readwrite("message_bytes", &Scenario::message_bytes)
      .def_readwrite("sessions", &Scenario::sessions)
      .def_readwrite("vcpus", &Scenario::vcpus)
      .def_readwrite("send_buffer_bytes", &Scenario::send_buffer_bytes)
      .def_readwrite("stream_ms", &Scenario::stream_ms)
      .def_readwrite("ring_size", &Scenario::ring_size)
      .def_readwrite("ring_offset", &Scenario::ring_offset)
      .def_readwrite("event_idx", &Scenario::event_idx)
      .def_readwrite("indirect", &Scenario::indirect)
      .def_readwrite("plan", &Scenario::plan)
      .def_readwrite("tap_entries", &Scenario::tap_entries)
      .def_readwrite("sink", &Scenario::sink)
      .def_readwrite("tx_batching", &Scenario::tx_batching)
      .def_readwrite("batch", &Scenario::batch)
      .def_readwrite("zerocopy", &Scenario::zerocopy)
      .def_readwrite("zerocopy_min_bytes", &Scenario::zerocopy_min_bytes)
      .def_readwrite("nic_pps", &Scenario::nic_pps)
      .def_readwrite("copy_batch", &Scenario::copy_batch)
      .def_readwrite("weight_packets", &Scenario::weight_packets)
      .def_readwrite("weight_bytes", &Scenario::weight_bytes)
      .def_readwrite("busy_poll_us", &Scenario::busy_poll_us)
      .def_readwrite("inline_packets", &Scenario::inline_packets)
      .def_readwrite("invalidations_per_s", &Scenario::invalidations_per_s)
      .def_readwrite("resizes_per_s", &Scenario::resizes_per_s)
      .def_readwrite("blk", &Scenario::blk)
      .def_readwrite("seed", &Scenario::seed)
      .def_readwrite("tie_seed", &Scenario::tie_seed)
      .def_readwrite("skip_polls", &Scenario::skip_polls);
  m.def("check_scenario", &sim::check_scenario, pybind11::arg("scenario"),
        "Raises ValueError that names the field, its value and what is permitted.");
}

}  // namespace vringlab::bindings
