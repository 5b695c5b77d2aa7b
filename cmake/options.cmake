# vringlab_options: the language, warning and sanitizer flags that every target shares.
add_library(vringlab_options INTERFACE)
target_compile_features(vringlab_options INTERFACE cxx_std_20)
target_include_directories(vringlab_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_definitions(vringlab_options INTERFACE VRINGLAB_VERSION="${PROJECT_VERSION}")
find_package(Threads REQUIRED)
target_link_libraries(vringlab_options INTERFACE Threads::Threads)

# A fused multiply-add rounds once where two operations round twice: results would depend on the
# compiler and on the processor it builds for. For the same reason there is no -march.
target_compile_options(vringlab_options INTERFACE -ffp-contract=off)

target_compile_options(
  vringlab_options INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion
                             -Wold-style-cast
                             # A designated initialiser leaves out fields on purpose.
                             -Wno-missing-field-initializers)
if(VRINGLAB_WERROR)
  target_compile_options(vringlab_options INTERFACE -Werror)
endif()

set(sanitize "${VRINGLAB_SANITIZE}")
if(VRINGLAB_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "VRINGLAB_FUZZ needs clang")
  endif()
  set(sanitize "fuzzer-no-link,address,undefined")
endif()
if(sanitize)
  target_compile_options(vringlab_options INTERFACE -fsanitize=${sanitize}
                                                    -fno-sanitize-recover=all
                                                    -fno-omit-frame-pointer)
  target_link_options(vringlab_options INTERFACE -fsanitize=${sanitize})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # The instrumentation itself makes g++ see uninitialised reads and overflows that aren't there,
    # and -Wtsan objects to every fence.
    target_compile_options(
      vringlab_options INTERFACE -Wno-maybe-uninitialized -Wno-array-bounds
                                 -Wno-stringop-overflow -Wno-tsan)
  endif()
endif()
