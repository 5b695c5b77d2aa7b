#include "sim/run/calibration.h"

#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include <optional>

#include "bindings/module.h"
#include "sim/cost/random.h"

namespace vringlab::bindings {
namespace {

namespace py = pybind11;
using Points = std::vector<sim::CalibrationPoint>;
using Parameters = std::vector<sim::Parameter>;

std::optional<Parameters> free_parameters(const Points& points, double between_hosts,
                                          sim::RunControl& control) {
  try {
    return sim::free_parameters(points, between_hosts, &control);
  } catch (const sim::Stopped&) {
    return std::nullopt;
  }
}

std::optional<sim::Fit> calibrate(const Points& points, const Parameters& parameters,
                                  sim::RunControl& control) {
  try {
    return sim::calibrate(points, parameters, &control);
  } catch (const sim::Stopped&) {
    return std::nullopt;
  }
}

std::optional<sim::Fit> leave_out(const sim::Fit& fit, const Points& points,
                                  const std::vector<std::size_t>& kept, sim::RunControl& control) {
  try {
    return sim::leave_out(fit, points, kept, &control);
  } catch (const sim::Stopped&) {
    return std::nullopt;
  }
}

std::optional<Eigen::MatrixXd> draw_posterior(const sim::Fit& fit, const Points& points,
                                              std::size_t count, std::uint64_t seed,
                                              sim::RunControl& control) {
  try {
    return sim::draw_posterior(fit, points, count, seed, &control);
  } catch (const sim::Stopped&) {
    return std::nullopt;
  }
}

Eigen::VectorXd standard_normals(Eigen::Index count, std::uint64_t seed) {
  sim::RandomStream random(seed);
  Eigen::VectorXd normals(count);
  for (double& v : normals) v = random.normal();
  return normals;
}

void bind_structs(py::module_& m) {
  using sim::CalibrationPoint;
  using sim::Fit;
  using sim::Parameter;
  py::class_<Parameter>(m, "Parameter")
      .def(py::init<std::string, double, double, double>(), py::arg("name"), py::arg("low"),
           py::arg("best"), py::arg("high"))
      .def_readonly("name", &Parameter::name)
      .def_readonly("low", &Parameter::low)
      .def_readonly("best", &Parameter::best)
      .def_readonly("high", &Parameter::high);
  py::class_<CalibrationPoint>(m, "CalibrationPoint")
      .def(py::init([](std::string id, const sim::Scenario& scenario, double rate_pps,
                       double relative_sigma, bool guest_system) {
             using Metric = CalibrationPoint::Metric;
             return CalibrationPoint{std::move(id), scenario, rate_pps, relative_sigma,
                                     guest_system ? Metric::kGuestSystem : Metric::kRate};
           }),
           py::arg("id"), py::arg("scenario"), py::arg("rate_pps"), py::arg("relative_sigma"),
           py::arg("guest_system"));
  py::class_<Fit>(m, "Fit")
      .def_readonly("names", &Fit::names)
      .def_readonly("values", &Fit::values)
      .def_readonly("log_covariance", &Fit::log_covariance)
      .def_readonly("iterations", &Fit::iterations)
      .def_readonly("converged", &Fit::converged);
}

}  // namespace

void bind_calibration(py::module_& m) {
  using sim::RunControl;
  bind_structs(m);
  m.def("with_parameters", &sim::with_parameters, py::arg("scenario"), py::arg("names"),
        py::arg("values"), "The scenario with the parameters that concern it.");
  m.def("free_parameters", &free_parameters, py::arg("points"), py::arg("between_hosts"),
        py::arg("control"), py::call_guard<py::gil_scoped_release>(),
        "Runs without the GIL; None if control.stop was set meanwhile.");
  m.def("calibrate", &calibrate, py::arg("points"), py::arg("parameters"), py::arg("control"),
        py::call_guard<py::gil_scoped_release>(),
        "Runs without the GIL; None if control.stop was set meanwhile.");
  m.def("leave_out", &leave_out, py::arg("fit"), py::arg("points"), py::arg("kept"),
        py::arg("control"), py::call_guard<py::gil_scoped_release>(),
        "The fit to the points of these indices; None if control.stop was set meanwhile.");
  m.def("draw_posterior", &draw_posterior, py::arg("fit"), py::arg("points"), py::arg("count"),
        py::arg("seed"), py::arg("control"), py::call_guard<py::gil_scoped_release>(),
        "Shape (count, len(fit.values)); runs without the GIL; None if control.stop was set "
        "meanwhile.");
  m.def("standard_normals", &standard_normals, py::arg("count"), py::arg("seed"),
        "Shape (count,), the same on every compiler.");
}

}  // namespace vringlab::bindings
