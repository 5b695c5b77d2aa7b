// The parts of the module _native: each binds one header, in the file of its name.
#pragma once

#include <pybind11/pybind11.h>

namespace vringlab::bindings {

void bind_names(pybind11::module_& m);
void bind_rows(pybind11::module_& m);
void bind_presets(pybind11::module_& m);
void bind_plan(pybind11::module_& m);
void bind_scenario(pybind11::module_& m);
void bind_result(pybind11::module_& m);
void bind_run(pybind11::module_& m);
void bind_trace(pybind11::module_& m);
void bind_measure(pybind11::module_& m);
void bind_calibration(pybind11::module_& m);
void bind_batch(pybind11::module_& m);

extern const char* const model_hash;  // SHA-256 of the sources of core and sim, from the build

}  // namespace vringlab::bindings
