#include "sim/cost/rows.h"

#include <pybind11/stl.h>

#include <stdexcept>
#include <vector>

#include "bindings/module.h"

namespace vringlab::bindings {
namespace {

std::string_view unit_name(sim::Unit unit) {
  switch (unit) {
    case sim::Unit::kCycles:
      return "cycles";
    case sim::Unit::kNanoseconds:
      return "ns";
    case sim::Unit::kMicroseconds:
      return "us";
    case sim::Unit::kCyclesPerByte:
      return "cycles/B";
    case sim::Unit::kFraction:
      return "fraction";
    case sim::Unit::kGigabytesPerSecond:
      return "GB/s";
    case sim::Unit::kMegabytesPerSecond:
      return "MB/s";
    case sim::Unit::kCount:
      return "count";
  }
  throw std::logic_error("a cost row without a unit");
}

std::vector<sim::CostRow> rows() {
  const auto all = sim::cost_rows();
  return {all.begin(), all.end()};
}

}  // namespace

void bind_rows(pybind11::module_& m) {
  using sim::CostRow;
  pybind11::class_<CostRow>(m, "CostRow")
      .def_readonly("name", &CostRow::name)
      .def_property_readonly("unit", [](const CostRow& row) { return unit_name(row.unit); })
      .def_readonly("low", &CostRow::low)
      .def_readonly("best", &CostRow::best)
      .def_readonly("high", &CostRow::high)
      .def_readonly("at_ghz", &CostRow::at_ghz)
      .def_readonly("cpu", &CostRow::cpu)
      .def_readonly("evidence", &CostRow::evidence)
      .def_readonly("source", &CostRow::source);
  m.def("cost_rows", &rows);
}

}  // namespace vringlab::bindings
