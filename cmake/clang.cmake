# Toolchain of the clang presets: the version that Debian 12 has, or what the system calls clang++.
find_program(clangxx NAMES clang++-14 clang++ REQUIRED)
set(CMAKE_CXX_COMPILER ${clangxx})
