#include "tests/fuzz/driver_dma.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vringlab::test;
  Input input({data, size});
  DriverDma(input.u8()).run(input);
  return 0;
}
