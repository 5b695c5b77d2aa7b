# vringlab_tests: every *.test.cc in one executable.
file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS core/*.test.cc sim/*.test.cc tests/*.test.cc)
set(VRINGLAB_TESTS_MATCH ".*" CACHE STRING "take only the test sources whose paths match this")
list(FILTER test_sources INCLUDE REGEX "${VRINGLAB_TESTS_MATCH}")
if(NOT test_sources)
  message(STATUS "no *.test.cc yet: vringlab_tests is left out")
  return()
endif()

find_package(GTest REQUIRED)
add_executable(vringlab_tests ${test_sources})
target_link_libraries(vringlab_tests PRIVATE vringlab_sim GTest::gtest_main)
target_compile_definitions(vringlab_tests PRIVATE VRINGLAB_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
target_precompile_headers(vringlab_tests PRIVATE <gtest/gtest.h>)
# Test bodies run once: compiling them costs more than running them.
target_compile_options(vringlab_tests PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)

include(GoogleTest)
gtest_discover_tests(vringlab_tests DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                     PROPERTIES LABELS cpp)
