#include "sim/cost/names.h"

#include "bindings/module.h"

namespace vringlab::bindings {
namespace {

// The names of all values of an axis of the ledger, in the order of the enum.
template <class Axis>
pybind11::tuple all_names(std::size_t count) {
  pybind11::tuple names(count);
  for (std::size_t i = 0; i < count; ++i) names[i] = sim::name(static_cast<Axis>(i));
  return names;
}

}  // namespace

void bind_names(pybind11::module_& m) {
  m.attr("cost_names") = all_names<sim::Cost>(sim::kCosts);
  m.attr("step_names") = all_names<sim::Step>(sim::kSteps);
}

}  // namespace vringlab::bindings
