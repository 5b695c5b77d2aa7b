# fuzz_NAME from tests/fuzz/NAME.fuzz.cc, with libFuzzer and the sanitizers of vringlab_options.
file(GLOB fuzz_sources CONFIGURE_DEPENDS tests/fuzz/*.fuzz.cc)
foreach(source IN LISTS fuzz_sources)
  cmake_path(GET source STEM name)
  add_executable(fuzz_${name} ${source})
  target_link_libraries(fuzz_${name} PRIVATE vringlab_sim)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
endforeach()
