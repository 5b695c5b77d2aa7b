#include "tests/fuzz/blk_request.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vringlab::test;
  Input input({data, size});
  BlkFuzz(input.u8()).run(input);
  return 0;
}
