// Both halves on real memory in two threads that sleep and wake each other.
// ThreadSanitizer runs it too: DirectAccess must order all that it shares.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "core/driver/driver_ring.h"
#include "core/memory/direct_access.h"
#include "core/ring/device_ring.h"
#include "tests/double/raw_guest.h"

namespace vringlab {
namespace {

using test::RawGuest;
using test::RawRing;

constexpr std::uint32_t kChains = 200'000;
constexpr std::uint64_t kDataBase = 0x8000;
constexpr std::uint32_t kDataBytes = 8;

// Wakes a thread once, however often it was rung meanwhile: more would hide a lost one.
class Doorbell {
 public:
  void ring() {
    const std::lock_guard lock(mutex_);
    rung_ = true;
    condition_.notify_one();
  }
  // False where nobody rings for so long that nobody ever will.
  bool wait() {
    std::unique_lock lock(mutex_);
    ++sleeps_;
    const bool woken = condition_.wait_for(lock, std::chrono::seconds(30), [&] { return rung_; });
    rung_ = false;
    return woken;
  }
  std::uint32_t sleeps() const { return sleeps_; }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool rung_ = false;
  std::uint32_t sleeps_ = 0;
};

struct Setup {
  std::uint32_t size;
  std::uint64_t features;
  bool delayed;
};

// Even chains carry a word to the device, odd ones bring one back.
bool is_request(std::uint64_t n) { return n % 2 == 0; }
std::uint64_t word_of(std::uint64_t n) { return n * 0x9e3779b97f4a7c15u + 1; }

class Threads : public testing::TestWithParam<Setup> {
 protected:
  void drive() {
    std::uint32_t sent = 0;
    std::uint32_t reaped = 0;
    while (reaped < kChains && !done_) {
      while (sent < kChains && driver_.state().free_count > 0) {
        send(sent++);
        driver_.publish();
        if (driver_.kick_needed()) kick_.ring();
      }
      driver_.disable_callback();
      const std::uint32_t before = reaped;
      while (const auto completion = driver_.reap()) {
        if (!check(*completion, reaped++)) return fail("driver: wrong completion");
      }
      if (driver_.state().broken != RingError::kNone) return fail("driver: broken");
      if (reaped != before) continue;
      if (!enable_callback() && !call_.wait()) return fail("driver: nobody calls");
    }
    done_ = true;
    kick_.ring();
  }

  void serve() {
    std::array<Piece, 1> room;
    Chain chain{.room = room};
    std::uint32_t served = 0;
    while (!done_) {
      device_.disable_notify();
      RingError error = RingError::kNone;
      while (device_.next_chain(chain, error) == Fetch::kHead) {
        if (error != RingError::kNone || !answer(chain, served++))
          return fail("device: wrong chain");
        if (device_.state().pending_used == flush_batch_) flush();
      }
      flush();
      if (!device_.enable_notify() && !done_ && !kick_.wait()) return fail("device: nobody kicks");
    }
    EXPECT_EQ(served, kChains);
  }

  Doorbell kick_;
  Doorbell call_;

 private:
  // The descriptor that comes next says where the word of chain `n` lies.
  void send(std::uint32_t n) {
    const std::uint64_t addr = kDataBase + driver_.state().free_head * kDataBytes;
    const std::uint64_t word = is_request(n) ? word_of(n) : 0;
    std::memcpy(&guest_.byte(addr), &word, sizeof(word));
    const Buffer buffer{{addr}, kDataBytes};
    const std::span<const Buffer> one(&buffer, 1);
    const auto head = is_request(n) ? driver_.add(one, {}, addr) : driver_.add({}, one, addr);
    ASSERT_TRUE(head.ok());
  }
  bool check(const Completion& completion, std::uint32_t n) {
    if (is_request(n)) return completion.written_bytes == 0;
    std::uint64_t word = 0;
    std::memcpy(&word, &guest_.byte(completion.token), sizeof(word));
    return completion.written_bytes == kDataBytes && word == word_of(n);
  }

  bool answer(const Chain& chain, std::uint32_t n) {
    std::uint64_t word = word_of(n);
    bool right = chain.descriptors == 1;
    if (is_request(n)) {
      right = right && chain.readable_bytes == kDataBytes &&
              std::memcmp(chain.readable()[0].host, &word, sizeof(word)) == 0;
    } else {
      right = right && chain.writable_bytes == kDataBytes;
      if (right) std::memcpy(chain.writable()[0].host, &word, sizeof(word));
    }
    device_.push_used(chain.head, chain.writable_bytes);
    return right;
  }
  void flush() {
    if (device_.flush_used() > 0 && device_.should_call()) call_.ring();
  }

  bool enable_callback() {
    return GetParam().delayed ? driver_.enable_callback_delayed() : driver_.enable_callback();
  }

  void fail(const char* what) {
    ADD_FAILURE() << what;
    done_ = true;
    kick_.ring();
    call_.ring();
  }

  RawGuest guest_{{{0, 0x10000}}};
  RawRing ring_{guest_, GetParam().size, GetParam().features};
  DriverRing<DirectDriverAccess> driver_{DirectDriverAccess(ring_.areas), ring_.config};
  DeviceRing<DirectAccess, DirectPayload> device_{DirectAccess(ring_.areas),
                                                  DirectPayload(guest_.memory()), ring_.config};
  const std::uint16_t flush_batch_ = static_cast<std::uint16_t>(GetParam().size / 4 + 1);
  std::atomic<bool> done_ = false;
};

TEST_P(Threads, every_chain_arrives_and_nobody_sleeps_for_ever) {
  std::thread device([&] { serve(); });
  drive();
  device.join();
  RecordProperty("driver_sleeps", static_cast<int>(call_.sleeps()));
  RecordProperty("device_sleeps", static_cast<int>(kick_.sleeps()));
}

INSTANTIATE_TEST_SUITE_P(Ring, Threads,
                         testing::Values(Setup{2, 0, false}, Setup{2, test::kEventIdx, false},
                                         Setup{64, 0, false}, Setup{64, test::kEventIdx, false},
                                         Setup{64, test::kEventIdx, true}),
                         [](const auto& test) {
                           return std::string(test.param.features != 0 ? "event" : "flags") +
                                  "_ring" + std::to_string(test.param.size) +
                                  (test.param.delayed ? "_delayed" : "");
                         });

}  // namespace
}  // namespace vringlab
