// Stands in for a build of the simulator that is counted under callgrind: the function
// that is counted has the simulator's name, and its work a switch that adds to it.
//
//   counted MORE_PER_MILLE REQUEST
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace vringlab::sim {

struct Scenario {
  std::uint64_t packets;
  std::uint64_t more_per_mille;
};
struct RunControl {
  std::uint64_t value = 1;
};

__attribute__((noinline)) void run(const Scenario& scenario, RunControl* control) {
  const std::uint64_t turns = scenario.packets * (1000 + scenario.more_per_mille);
  for (std::uint64_t i = 0; i < turns; ++i)
    control->value = control->value * 6364136223846793005u + i;  // MMIX, Knuth
}

}  // namespace vringlab::sim

int main(int argc, char** argv) {
  if (argc != 3) return EXIT_FAILURE;
  vringlab::sim::RunControl control;
  vringlab::sim::run({100, std::strtoull(argv[1], nullptr, 10)}, &control);
  vringlab::sim::run({200, std::strtoull(argv[1], nullptr, 10)}, &control);
  if (control.value == 0) return EXIT_FAILURE;
  std::puts(R"({"compiler": "test", "answers": [{"packets": 100}, {"packets": 200}]})");
}
