// A driver that counts its interrupts.
#pragma once

namespace vringlab::test {

struct CountingCaller {
  int calls = 0;
  void call() { ++calls; }
};

}  // namespace vringlab::test
