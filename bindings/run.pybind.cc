#include "sim/run/run.h"

#include <pybind11/stl.h>

#include <optional>

#include "bindings/module.h"

namespace vringlab::bindings {
namespace {

std::optional<sim::RunResult> run(const sim::Scenario& scenario, sim::RunControl& control) {
  try {
    return sim::run(scenario, &control);
  } catch (const sim::Stopped&) {
    return std::nullopt;
  }
}

}  // namespace

void bind_run(pybind11::module_& m) {
  namespace py = pybind11;
  using sim::RunControl;
  py::class_<RunControl>(m, "RunControl")
      .def(py::init<>())
      .def_property_readonly(
          "packets_done", [](const RunControl& c) { return c.packets_done.load(); },
          "Packets that the run has taken so far.")
      .def_property_readonly(
          "runs_done", [](const RunControl& c) { return c.runs_done.load(); },
          "Runs that the calibration has finished so far.")
      .def_property(
          "stop", [](const RunControl& c) { return c.stop.load(); },
          [](RunControl& c, bool stop) { c.stop.store(stop); },
          "Set to True to end the run early.");
  m.def("run", &run, py::arg("scenario"), py::arg("control"),
        py::call_guard<py::gil_scoped_release>(),
        "Runs without the GIL; None if control.stop was set meanwhile.");
}

}  // namespace vringlab::bindings
