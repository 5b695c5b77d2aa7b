#include "core/memory/order.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace vringlab {
namespace {

constexpr std::uint32_t kRounds = 25'000;

// Lets two threads start a round together.
class Meeting {
 public:
  void meet(std::uint32_t round) {
    arrived_.fetch_add(1, std::memory_order_acq_rel);
    for (std::uint32_t spins = 1; arrived_.load(std::memory_order_acquire) < 2 * (round + 1);
         ++spins) {
      if (spins % 1024 == 0) std::this_thread::yield();  // there may be one core only
    }
  }

 private:
  std::atomic<std::uint32_t> arrived_ = 0;
};

// Each thread stores its own word and loads the other's. Returns in how many
// rounds neither saw the other: the store still stood in its store buffer.
template <class Order>
std::uint32_t rounds_unseen(Order order) {
  struct alignas(128) Word {
    std::uint16_t value = 0;
  };
  std::array<Word, 2> words;
  std::array<std::vector<bool>, 2> seen;
  Meeting meeting;
  const auto run = [&](std::size_t self) {
    seen[self].assign(kRounds, false);
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      const auto mark = static_cast<std::uint16_t>(round + 1);
      meeting.meet(round);
      store_word(&words[self].value, mark);
      order();
      seen[self][round] = load_word(&words[1 - self].value) == mark;
    }
  };
  std::thread other([&] { run(1); });
  run(0);
  other.join();
  std::uint32_t unseen = 0;
  for (std::uint32_t round = 0; round < kRounds; ++round)
    if (!seen[0][round] && !seen[1][round]) ++unseen;
  return unseen;
}

// A thread that runs ahead stores the next round's mark only after both have met,
// so that "not this round's mark" means "an older one".
TEST(OrderThreads, a_full_point_empties_the_store_buffer) {
  EXPECT_EQ(rounds_unseen(order_threads<OrderPoint::kDriverKickDecision>), 0u);
  EXPECT_EQ(rounds_unseen(order_threads<OrderPoint::kDriverEnableCallback>), 0u);
  EXPECT_EQ(rounds_unseen(order_threads<OrderPoint::kDeviceCallDecision>), 0u);
  EXPECT_EQ(rounds_unseen(order_threads<OrderPoint::kDeviceEnableNotify>), 0u);
}

}  // namespace
}  // namespace vringlab
