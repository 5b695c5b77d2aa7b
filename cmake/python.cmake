# _native: the extension module of the Python package, from bindings/*.pybind.cc.
file(GLOB pybind_sources CONFIGURE_DEPENDS bindings/*.pybind.cc)
if(NOT pybind_sources)
  message(STATUS "no *.pybind.cc yet: _native is left out")
  return()
endif()

find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
find_package(pybind11 3 CONFIG REQUIRED)
# What results depend on, as one hash, in a file of its own: a change of a source compiles no binding.
file(GLOB_RECURSE model_sources CONFIGURE_DEPENDS core/*.h core/*.cc sim/*.h sim/*.cc)
set(model_hash ${CMAKE_CURRENT_BINARY_DIR}/model_hash.cc)
add_custom_command(
  OUTPUT ${model_hash}
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DOUT=${model_hash} -P
          ${PROJECT_SOURCE_DIR}/cmake/model_hash.cmake
  DEPENDS ${model_sources} ${PROJECT_SOURCE_DIR}/cmake/model_hash.cmake)
vringlab_add_layer(measure)
vringlab_link_layer(measure vringlab_options)
# NO_EXTRAS: link-time optimisation doubles the build and the hot loops are in headers anyway.
pybind11_add_module(_native MODULE NO_EXTRAS ${pybind_sources} ${model_hash})
set_source_files_properties(${model_hash} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
# In one translation unit they take a fifth of the time: most of it goes to the headers.
set_target_properties(_native PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
target_link_libraries(_native PRIVATE vringlab_sim vringlab_measure)
install(TARGETS _native LIBRARY DESTINATION vringlab)
