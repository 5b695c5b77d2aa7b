#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <thread>

#include "bindings/module.h"
#include "sim/run/run.h"

namespace vringlab::bindings {
namespace {

namespace py = pybind11;
using sim::RunResult;
using sim::Scenario;

// A run and what it came to; what a column is made of.
struct Run {
  const Scenario& scenario;
  const RunResult& result;
};

// A figure of a run, nothing where it was not measured.
using Figure = std::optional<std::uint64_t>;

struct Column {
  const char* name;
  Figure (*of)(const Run& run);
};

template <auto Member>
Figure plain(const Run& run) {
  return run.result.*Member;
}

template <auto Member>
Figure latency(const Run& run) {
  return run.result.packets > 0 ? Figure(run.result.latency.*Member) : std::nullopt;
}

template <auto Member>
Figure blk(const Run& run) {
  return run.scenario.workload == "blk" ? Figure(run.result.blk.*Member) : std::nullopt;
}

bool maps_buffers(std::string_view guest) {
  return guest == "vm-kernel" || guest == "vm-udp" || guest == "vm-xsk";
}

template <auto Member>
Figure dma(const Run& run) {
  return maps_buffers(run.scenario.guest) ? Figure(run.result.dma.*Member) : std::nullopt;
}

const sim::CoreResult* core(const Run& run, std::string_view name) {
  const auto& cores = run.result.cores;
  const auto found = std::ranges::find(cores, name, &sim::CoreResult::name);
  return found == cores.end() ? nullptr : &*found;
}

constexpr char kGuest[] = "guest";
constexpr char kWorker[] = "worker";

template <const char* Name, auto Member>
Figure core_time(const Run& run) {
  const sim::CoreResult* found = core(run, Name);
  return found != nullptr ? Figure(found->*Member) : std::nullopt;
}

Figure all_busy(const Run& run) {
  std::uint64_t ps = 0;
  for (const sim::CoreResult& c : run.result.cores) ps += c.busy_ps;
  return ps;
}

bool is_unmodelled(sim::Cost cost) {
  constexpr std::array kUnmodelled = {sim::Cost::kUnmodelled, sim::Cost::kUnmodelledRx,
                                      sim::Cost::kUnmodelledGuestRx, sim::Cost::kUnmodelledGuestTx,
                                      sim::Cost::kUnmodelledBlk};
  return std::ranges::find(kUnmodelled, cost) != kUnmodelled.end();
}

Figure worker_unmodelled(const Run& run) {
  const sim::CoreResult* worker = core(run, kWorker);
  if (worker == nullptr) return std::nullopt;
  std::uint64_t ps = 0;
  for (const sim::LedgerRow& row : worker->ledger) ps += is_unmodelled(row.cost) ? row.ps : 0;
  return ps;
}

using sim::BlkResult;
using sim::CoreResult;
using sim::DmaResult;
using sim::LatencyResult;

// Names that a scenario's field has too say whose they are.
constexpr Column kColumns[] = {
    {"sent_packets", plain<&RunResult::packets>},
    {"bytes", plain<&RunResult::bytes>},
    {"refused", plain<&RunResult::refused>},
    {"dropped", plain<&RunResult::dropped>},
    {"elapsed_ps", plain<&RunResult::elapsed_ps>},
    {"busy_ps", all_busy},
    {"guest_busy_ps", core_time<kGuest, &CoreResult::busy_ps>},
    {"guest_idle_ps", core_time<kGuest, &CoreResult::idle_ps>},
    {"worker_busy_ps", core_time<kWorker, &CoreResult::busy_ps>},
    {"worker_idle_ps", core_time<kWorker, &CoreResult::idle_ps>},
    {"worker_unmodelled_ps", worker_unmodelled},
    {"latency_mean_ps", latency<&LatencyResult::mean_ps>},
    {"latency_p50_ps", latency<&LatencyResult::p50_ps>},
    {"latency_p90_ps", latency<&LatencyResult::p90_ps>},
    {"latency_p99_ps", latency<&LatencyResult::p99_ps>},
    {"latency_max_ps", latency<&LatencyResult::max_ps>},
    {"batches", plain<&RunResult::batches>},
    {"alone", plain<&RunResult::alone>},
    {"lent", plain<&RunResult::lent>},
    {"kicks", plain<&RunResult::kicks>},
    {"calls", plain<&RunResult::calls>},
    {"wakeups", plain<&RunResult::wakeups>},
    {"sent_inline", plain<&RunResult::inline_packets>},
    {"interrupts", plain<&RunResult::interrupts>},
    {"invalidations", plain<&RunResult::invalidations>},
    {"resizes", plain<&RunResult::resizes>},
    {"pinned_bytes", plain<&RunResult::pinned_bytes>},
    {"setup_ps", plain<&RunResult::setup_ps>},
    {"teardown_ps", plain<&RunResult::teardown_ps>},
    {"dma_maps", dma<&DmaResult::maps>},
    {"dma_unmaps", dma<&DmaResult::unmaps>},
    {"dma_invalidations", dma<&DmaResult::invalidations>},
    {"dma_tree_searches", dma<&DmaResult::tree_searches>},
    {"dma_mapped_pages", dma<&DmaResult::mapped_pages>},
    {"dma_iotlb_misses", dma<&DmaResult::iotlb_misses>},
    {"dma_bounced_bytes", dma<&DmaResult::bounced_bytes>},
    {"dma_pool_slots", dma<&DmaResult::pool_slots>},
    {"blk_requests", blk<&BlkResult::requests>},
    {"blk_failed", blk<&BlkResult::failed>},
    {"blk_merged", blk<&BlkResult::merged>},
    {"blk_disk_requests", blk<&BlkResult::disk_requests>},
    {"blk_disk_merged", blk<&BlkResult::disk_merged>},
    {"blk_disk_read_bytes", blk<&BlkResult::disk_read_bytes>},
    {"blk_disk_write_bytes", blk<&BlkResult::disk_write_bytes>},
    {"blk_disk_busy_ps", blk<&BlkResult::disk_busy_ps>},
    {"blk_cache_hit_pages", blk<&BlkResult::cache_hit_pages>},
    {"blk_cache_miss_pages", blk<&BlkResult::cache_miss_pages>},
    {"blk_guest_system_ps", blk<&BlkResult::guest_system_ps>},
    {"blk_wrong_bytes", blk<&BlkResult::wrong_bytes>},
    {"blk_data_hash", blk<&BlkResult::data_hash>},
    {"guest_memory_hash", plain<&RunResult::guest_memory_hash>},
};

constexpr std::size_t kCount = std::size(kColumns);

// What became of a scenario of a batch.
enum class State : std::uint8_t { kStopped, kDone, kFailed };

// Columns lie one after another, each with a place a scenario.
struct Batch {
  std::vector<Scenario> scenarios;
  std::vector<State> states;
  std::vector<std::string> errors;  // why a scenario failed
  std::vector<std::uint64_t> values;
  std::vector<std::uint8_t> measured;  // 1 where the value is one
};

void keep(Batch& batch, std::size_t i, const RunResult& result) {
  const Run run{batch.scenarios[i], result};
  for (std::size_t c = 0; c < kCount; ++c) {
    const Figure figure = kColumns[c].of(run);
    const std::size_t place = c * batch.scenarios.size() + i;
    batch.values[place] = figure.value_or(0);
    batch.measured[place] = figure.has_value();
  }
  batch.states[i] = State::kDone;
}

void run_one(Batch& batch, std::size_t i, sim::RunControl& control) {
  try {
    keep(batch, i, sim::run(batch.scenarios[i], &control));
  } catch (const sim::Stopped&) {
    return;
  } catch (const std::bad_alloc&) {
    batch.errors[i] = "out of memory";
    batch.states[i] = State::kFailed;
  } catch (const std::exception& error) {
    batch.errors[i] = error.what();
    batch.states[i] = State::kFailed;
  }
  control.runs_done.fetch_add(1, std::memory_order_relaxed);
}

// Each run takes a megabyte or two and gives it back. Mapped anew each time, threads wait for one
// another in the kernel: two of them were 1.44 times as fast as one, and 1.97 times where memory
// stays with the process.
void keep_memory() {
#ifdef __GLIBC__
  static const bool once =
      mallopt(M_MMAP_THRESHOLD, 32 << 20) != 0 && mallopt(M_TRIM_THRESHOLD, 256 << 20) != 0;
  static_cast<void>(once);
#endif
}

// Each thread takes the next scenario, and writes to its places only.
void run_all(Batch& batch, std::size_t threads, sim::RunControl& control) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i; !control.stop && (i = next.fetch_add(1)) < batch.scenarios.size();) {
      run_one(batch, i, control);
    }
  };
  std::vector<std::jthread> pool;
  for (std::size_t t = 1; t < std::min(threads, batch.scenarios.size()); ++t) {
    pool.emplace_back(work);
  }
  work();
}

template <class Element>
py::array_t<Element> array(const std::vector<Element>& values, std::size_t columns) {
  const std::size_t rows = values.size() / columns;
  return py::array_t<Element>({columns, rows}, values.data());
}

py::tuple as_arrays(const Batch& batch) {
  const auto* states = reinterpret_cast<const std::uint8_t*>(batch.states.data());
  return py::make_tuple(
      py::array_t<std::uint8_t>(static_cast<py::ssize_t>(batch.states.size()), states),
      batch.errors, array(batch.values, kCount), array(batch.measured, kCount));
}

py::tuple run_batch(std::vector<Scenario> scenarios, std::size_t threads,
                    sim::RunControl& control) {
  const std::size_t count = scenarios.size();
  Batch batch{.scenarios = std::move(scenarios),
              .states = std::vector<State>(count),
              .errors = std::vector<std::string>(count),
              .values = std::vector<std::uint64_t>(kCount * count),
              .measured = std::vector<std::uint8_t>(kCount * count)};
  {
    const py::gil_scoped_release without_gil;
    keep_memory();
    run_all(batch, threads, control);
  }
  return as_arrays(batch);
}

py::tuple column_names() {
  py::tuple names(kCount);
  for (std::size_t c = 0; c < kCount; ++c) names[c] = kColumns[c].name;
  return names;
}

}  // namespace

void bind_batch(py::module_& m) {
  m.attr("batch_columns") = column_names();
  // No attribute: the stub would have its value.
  m.def(
      "model", [] { return model_hash; }, "SHA-256 of the sources of core and sim.");
  m.def(
      "copy_scenario", [](const Scenario& scenario) { return scenario; }, py::arg("scenario"));
  m.def("run_batch", &run_batch, py::arg("scenarios"), py::arg("threads"), py::arg("control"),
        "Runs all of them without the GIL: (states, errors, values, measured). A state is 0 if "
        "control.stop came first, 1 if the scenario was run, 2 if it failed, and errors say why; "
        "values and measured have the shape (len(batch_columns), len(scenarios)).");
}

}  // namespace vringlab::bindings
