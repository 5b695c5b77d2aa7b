# A layer is a top folder: its sources are globbed, so a new file needs no change here. Test,
# benchmark and fuzz files stand beside the code on the same stem and are told apart by suffix.

# Sets OUT to the library sources of FOLDER.
function(vringlab_layer_sources OUT FOLDER)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${FOLDER}/*.cc)
  list(FILTER sources EXCLUDE REGEX "\\.(test|perf|fuzz|pybind)\\.cc$")
  set(${OUT} ${sources} PARENT_SCOPE)
endfunction()

# vringlab_FOLDER: a static library, or an interface one while the folder has only headers.
function(vringlab_add_layer FOLDER)
  vringlab_layer_sources(sources ${FOLDER})
  if(sources)
    add_library(vringlab_${FOLDER} STATIC ${sources})
  else()
    add_library(vringlab_${FOLDER} INTERFACE)
  endif()
endfunction()

function(vringlab_link_layer FOLDER)
  get_target_property(type vringlab_${FOLDER} TYPE)
  if(type STREQUAL INTERFACE_LIBRARY)
    target_link_libraries(vringlab_${FOLDER} INTERFACE ${ARGN})
  else()
    target_link_libraries(vringlab_${FOLDER} PUBLIC ${ARGN})
  endif()
endfunction()
