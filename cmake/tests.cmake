# vringlab_tests: every *.test.cc in one executable.
file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS core/*.test.cc sim/*.test.cc tests/*.test.cc)
set(VRINGLAB_TESTS_MATCH ".*" CACHE STRING "take only the test sources whose paths match this")
option(VRINGLAB_TESTS_COMPILE_FAST "less optimised, several files at a time" OFF)
list(FILTER test_sources INCLUDE REGEX "${VRINGLAB_TESTS_MATCH}")
if(NOT test_sources)
  message(STATUS "no *.test.cc yet: vringlab_tests is left out")
  return()
endif()

find_package(GTest REQUIRED)
# Test bodies run once: compiling them costs more than running them. That is true of core's templates
# too; simulations and random tests are what runs for long.
set(quick ${test_sources})
list(FILTER quick INCLUDE REGEX "/core/.*\\.test|/tests/(fuzz|hostile)/")
list(FILTER quick EXCLUDE REGEX "_random\\.test")
list(REMOVE_ITEM test_sources ${quick})
add_library(vringlab_quick_tests OBJECT ${quick})
# Whole simulations and traces: the same templates in many files. Under sanitizers not those that go
# through very many cases with code of their own.
set(whole ${test_sources})
list(FILTER whole INCLUDE REGEX "/sim/run/|/tests/")
if(VRINGLAB_SANITIZE)
  list(FILTER whole EXCLUDE REGEX "/tests/(order|differential|blk_(power|trace|kill|random))")
endif()
list(REMOVE_ITEM test_sources ${whole})
add_library(vringlab_whole_tests OBJECT ${whole})
add_executable(vringlab_tests ${test_sources} $<TARGET_OBJECTS:vringlab_quick_tests>
                              $<TARGET_OBJECTS:vringlab_whole_tests>)
foreach(tests IN ITEMS vringlab_quick_tests vringlab_whole_tests vringlab_tests)
  target_link_libraries(${tests} PRIVATE vringlab_sim GTest::gtest_main)
  target_compile_definitions(${tests} PRIVATE VRINGLAB_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_precompile_headers(${tests} PRIVATE <gtest/gtest.h>)
  target_compile_options(${tests} PRIVATE $<$<CONFIG:RelWithDebInfo,Release>:-O1>)
endforeach()
if(VRINGLAB_TESTS_COMPILE_FAST)
  foreach(tests IN ITEMS vringlab_quick_tests vringlab_whole_tests)
    target_compile_options(${tests} PRIVATE -O0)
  endforeach()
  # Of a function that is in both, the linker takes the first: that of the libraries, optimised.
  target_link_options(vringlab_tests PRIVATE -Wl,--whole-archive $<TARGET_FILE:vringlab_sim>
                      $<TARGET_FILE:vringlab_core> -Wl,--no-whole-archive)
  set_target_properties(vringlab_whole_tests PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 4)
endif()
# What runs is inlined otherwise then: not where that counts.
if(VRINGLAB_TESTS_COMPILE_FAST AND VRINGLAB_SANITIZE)
  set_target_properties(vringlab_sim PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
endif()

include(GoogleTest)
gtest_discover_tests(vringlab_tests DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                     PROPERTIES LABELS cpp)
