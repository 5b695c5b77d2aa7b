// Keeps tests/fuzz/seeds in step with the hostile inputs, and runs each seed
// through its fuzzer's invariants. VRINGLAB_WRITE_SEEDS=1 writes the files anew.
#include "tests/fuzz/seeds.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace vringlab::test {
namespace {

namespace fs = std::filesystem;

fs::path folder(const std::string& fuzzer) {
  return fs::path(VRINGLAB_SOURCE_DIR) / "tests/fuzz/seeds" / fuzzer;
}

void write(const fs::path& path, const Seeds& seeds) {
  fs::remove_all(path);
  fs::create_directories(path);
  for (const auto& [name, seed] : seeds)
    std::ofstream(path / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(seed.data()),
               static_cast<std::streamsize>(seed.size()));
}

Seeds read(const fs::path& path) {
  Seeds seeds;
  for (const auto& entry : fs::directory_iterator(path)) {
    std::ifstream file(entry.path(), std::ios::binary);
    Seed& seed = seeds[entry.path().filename().string()];
    for (std::istreambuf_iterator<char> at(file), end; at != end; ++at)
      seed.push_back(static_cast<std::uint8_t>(*at));
  }
  return seeds;
}

void expect_in_step(const std::string& fuzzer, const Seeds& seeds) {
  if (std::getenv("VRINGLAB_WRITE_SEEDS") != nullptr) write(folder(fuzzer), seeds);
  EXPECT_EQ(read(folder(fuzzer)), seeds) << "write them anew: see the head of this file";
}

template <class Harness>
void run_all(const Seeds& seeds) {
  for (const auto& [name, seed] : seeds) {
    SCOPED_TRACE(name);
    Input input(seed);
    Harness(input.u8()).run(input);
  }
}

TEST(FuzzSeeds, are_the_hostile_inputs) {
  expect_in_step("chain_walk", chain_walk_seeds());
  expect_in_step("net_rx", net_rx_seeds());
  expect_in_step("net_tx_zerocopy", net_tx_zerocopy_seeds());
  expect_in_step("blk_request", blk_request_seeds());
  expect_in_step("driver_used", driver_used_seeds());
  expect_in_step("driver_dma", driver_dma_seeds());
}

TEST(FuzzSeeds, break_no_invariant) {
  run_all<ChainWalk>(chain_walk_seeds());
  run_all<NetRxFuzz>(net_rx_seeds());
  run_all<ZeroCopyFuzz>(net_tx_zerocopy_seeds());
  run_all<BlkFuzz>(blk_request_seeds());
  run_all<DriverUsed>(driver_used_seeds());
  run_all<DriverDma>(driver_dma_seeds());
}

}  // namespace
}  // namespace vringlab::test
