#include "sim/run/result.h"

#include <pybind11/stl.h>

#include "bindings/module.h"

namespace vringlab::bindings {
namespace {

void bind_core(pybind11::module_& m) {
  using sim::CoreResult;
  using sim::LedgerRow;
  pybind11::class_<LedgerRow>(m, "LedgerRow")
      .def_property_readonly("cost", [](const LedgerRow& row) { return name(row.cost); })
      .def_property_readonly("step", [](const LedgerRow& row) { return name(row.step); })
      .def_readonly("ps", &LedgerRow::ps)
      .def_readonly("count", &LedgerRow::count);
  pybind11::class_<CoreResult>(m, "CoreResult")
      .def_readonly("name", &CoreResult::name)
      .def_readonly("busy_ps", &CoreResult::busy_ps)
      .def_readonly("idle_ps", &CoreResult::idle_ps)
      .def_readonly("ledger", &CoreResult::ledger);
}

void bind_latency(pybind11::module_& m) {
  using sim::LatencyResult;
  pybind11::class_<LatencyResult>(m, "LatencyResult")
      .def_readonly("mean_ps", &LatencyResult::mean_ps)
      .def_readonly("p50_ps", &LatencyResult::p50_ps)
      .def_readonly("p90_ps", &LatencyResult::p90_ps)
      .def_readonly("p99_ps", &LatencyResult::p99_ps)
      .def_readonly("max_ps", &LatencyResult::max_ps);
}

void bind_blk_result(pybind11::module_& m) {
  using sim::BlkResult;
  pybind11::class_<BlkResult>(m, "BlkResult")
      .def_readonly("requests", &BlkResult::requests)
      .def_readonly("failed", &BlkResult::failed)
      .def_readonly("merged", &BlkResult::merged)
      .def_readonly("disk_requests", &BlkResult::disk_requests)
      .def_readonly("disk_merged", &BlkResult::disk_merged)
      .def_readonly("disk_read_bytes", &BlkResult::disk_read_bytes)
      .def_readonly("disk_write_bytes", &BlkResult::disk_write_bytes)
      .def_readonly("disk_busy_ps", &BlkResult::disk_busy_ps)
      .def_readonly("cache_hit_pages", &BlkResult::cache_hit_pages)
      .def_readonly("cache_miss_pages", &BlkResult::cache_miss_pages)
      .def_readonly("guest_system_ps", &BlkResult::guest_system_ps)
      .def_readonly("wrong_bytes", &BlkResult::wrong_bytes)
      .def_readonly("data_hash", &BlkResult::data_hash);
}

void bind_dma_result(pybind11::module_& m) {
  using sim::DmaResult;
  pybind11::class_<DmaResult>(m, "DmaResult")
      .def_readonly("maps", &DmaResult::maps)
      .def_readonly("unmaps", &DmaResult::unmaps)
      .def_readonly("invalidations", &DmaResult::invalidations)
      .def_readonly("tree_searches", &DmaResult::tree_searches)
      .def_readonly("mapped_pages", &DmaResult::mapped_pages)
      .def_readonly("iotlb_misses", &DmaResult::iotlb_misses)
      .def_readonly("bounced_bytes", &DmaResult::bounced_bytes)
      .def_readonly("pool_slots", &DmaResult::pool_slots);
}

}  // namespace

void bind_result(pybind11::module_& m) {
  using sim::RunResult;
  bind_core(m);
  bind_latency(m);
  bind_blk_result(m);
  bind_dma_result(m);
  pybind11::class_<RunResult>(m, "RunResult")
      .def_readonly("packets", &RunResult::packets)
      .def_readonly("bytes", &RunResult::bytes)
      .def_readonly("refused", &RunResult::refused)
      .def_readonly("dropped", &RunResult::dropped)
      .def_readonly("elapsed_ps", &RunResult::elapsed_ps)
      .def_readonly("rate_pps", &RunResult::rate_pps)
      .def_readonly("cores", &RunResult::cores)
      .def_readonly("latency", &RunResult::latency)
      .def_readonly("batches", &RunResult::batches)
      .def_readonly("alone", &RunResult::alone)
      .def_readonly("lent", &RunResult::lent)
      .def_readonly("kicks", &RunResult::kicks)
      .def_readonly("calls", &RunResult::calls)
      .def_readonly("wakeups", &RunResult::wakeups)
      .def_readonly("inline_packets", &RunResult::inline_packets)
      .def_readonly("interrupts", &RunResult::interrupts)
      .def_readonly("invalidations", &RunResult::invalidations)
      .def_readonly("resizes", &RunResult::resizes)
      .def_readonly("pinned_bytes", &RunResult::pinned_bytes)
      .def_readonly("setup_ps", &RunResult::setup_ps)
      .def_readonly("teardown_ps", &RunResult::teardown_ps)
      .def_readonly("dma", &RunResult::dma)
      .def_readonly("blk", &RunResult::blk)
      .def_readonly("guest_memory_hash", &RunResult::guest_memory_hash);
}

}  // namespace vringlab::bindings
