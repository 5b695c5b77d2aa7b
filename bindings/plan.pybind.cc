#include <pybind11/native_enum.h>

#include "bindings/module.h"
#include "sim/run/scenario.h"

namespace vringlab::bindings {
namespace {

void bind_enums(pybind11::module_& m) {
  namespace py = pybind11;
  py::native_enum<sim::Guard>(m, "Guard", "enum.Enum")
      .value("none", sim::Guard::kNone)
      .value("rcu", sim::Guard::kRcu)
      .value("counter", sim::Guard::kCounter)
      .value("spinlock", sim::Guard::kSpinlock)
      .value("atomic", sim::Guard::kAtomic)
      .finalize();
  py::native_enum<sim::UserAccess>(m, "UserAccess", "enum.Enum")
      .value("copy_user", sim::UserAccess::kCopyUser)
      .value("masked", sim::UserAccess::kMasked)
      .value("section", sim::UserAccess::kSection)
      .value("shared_fixup", sim::UserAccess::kSharedFixup)
      .finalize();
  py::native_enum<sim::SectionSpan>(m, "SectionSpan", "enum.Enum")
      .value("one_area", sim::SectionSpan::kOneArea)
      .value("several_areas", sim::SectionSpan::kSeveralAreas)
      .finalize();
  py::native_enum<sim::UsedElement>(m, "UsedElement", "enum.Enum")
      .value("two_words", sim::UsedElement::kTwoWords)
      .value("block", sim::UsedElement::kBlock)
      .finalize();
  py::native_enum<sim::Translation>(m, "Translation", "enum.Enum")
      .value("user_address", sim::Translation::kUserAddress)
      .value("iotlb", sim::Translation::kIotlb)
      .value("iotlb_metadata_cache", sim::Translation::kIotlbMetadataCache)
      .finalize();
}

}  // namespace

void bind_plan(pybind11::module_& m) {
  using sim::AccessPlan;
  bind_enums(m);
  pybind11::class_<AccessPlan>(m, "AccessPlan")
      .def(pybind11::init<>())
      .def_readwrite("map_desc", &AccessPlan::map_desc)
      .def_readwrite("map_avail", &AccessPlan::map_avail)
      .def_readwrite("map_used", &AccessPlan::map_used)
      .def_readwrite("guard", &AccessPlan::guard)
      .def_readwrite("user_access", &AccessPlan::user_access)
      .def_readwrite("section_span", &AccessPlan::section_span)
      .def_readwrite("used_element", &AccessPlan::used_element)
      .def_readwrite("translation", &AccessPlan::translation);
}

}  // namespace vringlab::bindings
