#include <pybind11/stl.h>

#include <stdexcept>

#include "bindings/module.h"
#include "measure/probe.h"

namespace vringlab::bindings {
namespace {

using measure::Meter;
using measure::Place;
using measure::Probe;
using measure::Reading;

std::vector<Reading> readings(const Probe& probe, Meter& meter, const Place& place,
                              std::uint32_t count) {
  const std::string missing = probe.missing(place);
  if (!missing.empty()) throw std::invalid_argument(std::string(probe.name) + ": " + missing);
  return measure::readings(probe, meter, place, count);
}

}  // namespace

void bind_measure(pybind11::module_& m) {
  namespace py = pybind11;
  py::class_<Reading>(m, "Reading")
      .def_readonly("ns", &Reading::ns)
      .def_readonly("cycles", &Reading::cycles);
  py::class_<Place>(m, "Place")
      .def(py::init<int, int, std::string>(), py::arg("first_cpu"), py::arg("second_cpu"),
           py::arg("folder"))
      .def_readonly("first_cpu", &Place::first_cpu)
      .def_readonly("second_cpu", &Place::second_cpu)
      .def_readonly("folder", &Place::folder);
  py::class_<Meter>(m, "Meter")
      .def(py::init<>())
      .def_property_readonly("counts_cycles", &Meter::counts_cycles)
      .def_property_readonly("why_not", &Meter::why_not);
  py::class_<Probe>(m, "Probe")
      .def_property_readonly("name", [](const Probe& p) { return std::string(p.name); })
      .def_property_readonly("doc", [](const Probe& p) { return std::string(p.doc); })
      .def(
          "missing", [](const Probe& p, const Place& place) { return p.missing(place); },
          py::arg("place"), "Why it can't be measured here; empty if it can.")
      .def("readings", &readings, py::arg("meter"), py::arg("place"), py::arg("count"),
           py::call_guard<py::gil_scoped_release>(), "Times of one operation, without the GIL.");
  m.def("probes", &measure::probes, "What of this host can be measured.");
}

}  // namespace vringlab::bindings
