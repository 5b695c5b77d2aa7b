# vringlab_eigen: Eigen from the system, else from the PyPI package cmeel-eigen, which is a build
# requirement of the wheel. Only sim/cost uses it.
find_package(Eigen3 3.4 QUIET NO_MODULE)
if(NOT TARGET Eigen3::Eigen)
  # Asking importlib finds the package in a virtual environment and in pip's isolated build alike.
  find_package(Python 3.11 QUIET COMPONENTS Interpreter)
  execute_process(
    COMMAND "${Python_EXECUTABLE}" -c
            "from importlib.metadata import distribution as d; print(d('cmeel-eigen').locate_file('cmeel.prefix'))"
    OUTPUT_VARIABLE cmeel_prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  find_package(Eigen3 3.4 QUIET NO_MODULE PATHS "${cmeel_prefix}" NO_DEFAULT_PATH)
endif()
if(NOT TARGET Eigen3::Eigen)
  message(FATAL_ERROR "Eigen is missing: install libeigen3-dev, or cmeel-eigen from PyPI")
endif()

add_library(vringlab_eigen INTERFACE)
target_link_libraries(vringlab_eigen INTERFACE Eigen3::Eigen)
# Vector instructions would sum in an order that depends on the processor.
target_compile_definitions(vringlab_eigen INTERFACE EIGEN_DONT_VECTORIZE EIGEN_MPL2_ONLY)
