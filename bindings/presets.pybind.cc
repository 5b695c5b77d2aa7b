#include "sim/cost/presets.h"

#include <pybind11/stl.h>

#include <vector>

#include "bindings/module.h"
#include "sim/run/scenario.h"

namespace vringlab::bindings {
namespace {

void bind_host(pybind11::module_& m) {
  using sim::HostPreset;
  pybind11::class_<sim::Range>(m, "Range")
      .def_readonly("low", &sim::Range::low)
      .def_readonly("best", &sim::Range::best)
      .def_readonly("high", &sim::Range::high);
  pybind11::class_<HostPreset>(m, "HostPreset")
      .def_readonly("name", &HostPreset::name)
      .def_readonly("doc", &HostPreset::doc)
      .def_readonly("clock_ghz", &HostPreset::clock_ghz)
      .def_readonly("stac_clac", &HostPreset::stac_clac)
      .def_readonly("lfence", &HostPreset::lfence)
      .def_readonly("copy_startup", &HostPreset::copy_startup)
      .def_readonly("transfer_socket", &HostPreset::transfer_socket)
      .def_readonly("apic_exits", &HostPreset::apic_exits)
      .def_readonly("l1_bytes", &HostPreset::l1_bytes)
      .def_readonly("l2_bytes", &HostPreset::l2_bytes)
      .def_readonly("l3_bytes", &HostPreset::l3_bytes);
  m.def("host_presets", [] {
    const auto all = sim::host_presets();
    return std::vector<HostPreset>(all.begin(), all.end());
  });
}

void bind_kernel(pybind11::module_& m) {
  using sim::KernelPreset;
  pybind11::class_<KernelPreset>(m, "KernelPreset")
      .def_readonly("name", &KernelPreset::name)
      .def_readonly("doc", &KernelPreset::doc)
      .def_readonly("smap", &KernelPreset::smap)
      .def_readonly("nospec", &KernelPreset::nospec)
      .def_readonly("copy_nospec", &KernelPreset::copy_nospec)
      .def_readonly("retpoline", &KernelPreset::retpoline)
      .def_readonly("kpti", &KernelPreset::kpti)
      .def_readonly("hardened_usercopy", &KernelPreset::hardened_usercopy)
      .def_readonly("old_vmm", &KernelPreset::old_vmm)
      .def_readonly("frag_bias", &KernelPreset::frag_bias);
  m.def("kernel_presets", [] {
    const auto all = sim::kernel_presets();
    return std::vector<KernelPreset>(all.begin(), all.end());
  });
}

void bind_sink(pybind11::module_& m) {
  using sim::SinkInfo;
  pybind11::class_<SinkInfo>(m, "SinkInfo")
      .def_readonly("name", &SinkInfo::name)
      .def_readonly("doc", &SinkInfo::doc)
      .def_readonly("program", &SinkInfo::program)
      .def_readonly("held", &SinkInfo::held);
  m.def("sink_infos", &sim::sink_infos);
}

void bind_disk(pybind11::module_& m) {
  using sim::DiskPreset;
  pybind11::class_<DiskPreset>(m, "DiskPreset")
      .def_readonly("name", &DiskPreset::name)
      .def_readonly("doc", &DiskPreset::doc)
      .def_readonly("depth", &DiskPreset::depth);
  m.def("disk_presets", [] {
    const auto all = sim::disk_presets();
    return std::vector<DiskPreset>(all.begin(), all.end());
  });
}

}  // namespace

void bind_presets(pybind11::module_& m) {
  bind_host(m);
  bind_kernel(m);
  bind_sink(m);
  bind_disk(m);
}

}  // namespace vringlab::bindings
