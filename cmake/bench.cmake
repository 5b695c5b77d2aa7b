# vringlab_bench: every *.perf.cc in one executable. It compiles the layers' sources again, so that
# it measures -O3 without assertions whatever the build type is.
file(GLOB_RECURSE perf_sources CONFIGURE_DEPENDS core/*.perf.cc sim/*.perf.cc tests/*.perf.cc)
if(NOT perf_sources)
  message(STATUS "no *.perf.cc yet: vringlab_bench is left out")
  return()
endif()

find_package(benchmark REQUIRED)
vringlab_layer_sources(core_sources core)
vringlab_layer_sources(sim_sources sim)
add_executable(vringlab_bench ${perf_sources} ${core_sources} ${sim_sources})
target_link_libraries(vringlab_bench PRIVATE vringlab_options vringlab_eigen
                                             benchmark::benchmark_main)
target_compile_definitions(vringlab_bench PRIVATE VRINGLAB_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
target_compile_options(vringlab_bench PRIVATE -O3 -DNDEBUG)
