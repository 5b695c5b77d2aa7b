#include <pybind11/stl.h>

#include <optional>
#include <utility>

#include "bindings/module.h"
#include "sim/run/run.h"

namespace vringlab::bindings {
namespace {

std::optional<std::pair<sim::RunResult, sim::Trace>> run_traced(const sim::Scenario& scenario,
                                                                sim::RunControl& control) {
  try {
    sim::TracedRun run = sim::run_traced(scenario, &control);
    return std::pair(std::move(run.result), std::move(run.trace));
  } catch (const sim::Stopped&) {
    return std::nullopt;
  }
}

void bind_parts(pybind11::module_& m) {
  using sim::TraceFlow;
  using sim::TracePart;
  using sim::TraceSlice;
  pybind11::class_<TracePart>(m, "TracePart")
      .def_property_readonly("cost", [](const TracePart& part) { return name(part.cost); })
      .def_readonly("ps", &TracePart::ps)
      .def_readonly("count", &TracePart::count);
  pybind11::class_<TraceSlice>(m, "TraceSlice")
      .def_readonly("core", &TraceSlice::core)
      .def_property_readonly("step", [](const TraceSlice& slice) { return name(slice.step); })
      .def_readonly("start_ps", &TraceSlice::start_ps)
      .def_readonly("ps", &TraceSlice::ps)
      .def_readonly("first_part", &TraceSlice::first_part)
      .def_readonly("parts", &TraceSlice::parts);
  pybind11::class_<TraceFlow>(m, "TraceFlow")
      .def_property_readonly(
          "kind",
          [](const TraceFlow& f) { return f.kind == sim::TraceFlowKind::kKick ? "kick" : "call"; })
      .def_readonly("source", &TraceFlow::from)
      .def_readonly("target", &TraceFlow::to)
      .def_readonly("at_ps", &TraceFlow::at_ps);
}

}  // namespace

void bind_trace(pybind11::module_& m) {
  namespace py = pybind11;
  using sim::Trace;
  bind_parts(m);
  py::class_<Trace>(m, "Trace")
      .def_readonly("cores", &Trace::cores)
      .def_readonly("slices", &Trace::slices)
      .def_readonly("parts", &Trace::parts)
      .def_readonly("flows", &Trace::flows);
  m.def("run_traced", &run_traced, py::arg("scenario"), py::arg("control"),
        py::call_guard<py::gil_scoped_release>(),
        "Runs without the GIL and records; None if control.stop was set meanwhile.");
}

}  // namespace vringlab::bindings
