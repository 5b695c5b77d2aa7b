# _native: the extension module of the Python package, from bindings/*.pybind.cc.
file(GLOB pybind_sources CONFIGURE_DEPENDS bindings/*.pybind.cc)
if(NOT pybind_sources)
  message(STATUS "no *.pybind.cc yet: _native is left out")
  return()
endif()

find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
find_package(pybind11 3 CONFIG REQUIRED)
vringlab_add_layer(measure)
vringlab_link_layer(measure vringlab_options)
# NO_EXTRAS: link-time optimisation doubles the build and the hot loops are in headers anyway.
pybind11_add_module(_native MODULE NO_EXTRAS ${pybind_sources})
# In one translation unit they take a fifth of the time: most of it goes to the headers.
set_target_properties(_native PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
target_link_libraries(_native PRIVATE vringlab_sim vringlab_measure)
install(TARGETS _native LIBRARY DESTINATION vringlab)
