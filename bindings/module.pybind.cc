#include "bindings/module.h"

#ifdef __clang__
#define VRINGLAB_COMPILER __VERSION__  // begins with the compiler's name
#else
#define VRINGLAB_COMPILER "GCC " __VERSION__
#endif

PYBIND11_MODULE(_native, m) {
  using namespace vringlab::bindings;
  m.doc() = "The simulator, as plain structs; the package vringlab wraps all of it.";
  m.attr("version") = VRINGLAB_VERSION;
  m.attr("compiler") = VRINGLAB_COMPILER;
  bind_names(m);
  bind_rows(m);
  bind_presets(m);
  bind_plan(m);
  bind_scenario(m);
  bind_result(m);
  bind_run(m);
  bind_trace(m);
  bind_calibration(m);
  bind_batch(m);
  bind_measure(m);
}
