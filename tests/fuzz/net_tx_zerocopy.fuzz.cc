#include "tests/fuzz/net_tx_zerocopy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vringlab::test;
  Input input({data, size});
  ZeroCopyFuzz(input.u8()).run(input);
  return 0;
}
