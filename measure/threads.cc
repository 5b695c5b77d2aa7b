// Two threads on two processors: a cache line that goes to and fro, and a wake-up.
#include <atomic>
#include <stdexcept>
#include <thread>

#include "measure/probe.h"

#ifdef __linux__
#include <sys/eventfd.h>
#include <unistd.h>
#endif

namespace vringlab::measure {
namespace {

constexpr std::uint32_t kPatience = 1 << 14;  // looks before it lets others run

std::string second_missing(const Place& place) {
  return place.first_cpu == place.second_cpu ? "there is one processor" : "";
}

struct alignas(128) Line {
  std::atomic<std::uint32_t> turn{0};
};

// On a processor that others use as well, waiting must not keep out who is waited for.
void wait_for(const Line& line, std::uint32_t turn) {
  for (std::uint32_t looks = 1; line.turn.load(std::memory_order_acquire) != turn; ++looks) {
    if (looks % kPatience == 0) std::this_thread::yield();
  }
}

// Each operation is one way: the line is written here and read there, or the other way.
Reading line_transfer(Meter& meter, const Place& place, std::uint32_t times) {
  Line line;
  std::thread other([&] {
    const Pinned pinned(place.second_cpu);
    for (std::uint32_t turn = 1; turn < times; turn += 2) {
      wait_for(line, turn);
      line.turn.store(turn + 1, std::memory_order_release);
    }
  });
  meter.start();
  for (std::uint32_t turn = 0; turn < times; turn += 2) {
    wait_for(line, turn);
    line.turn.store(turn + 1, std::memory_order_release);
  }
  wait_for(line, times);
  const Reading reading = meter.stop();
  other.join();
  return {.ns = reading.ns, .cycles = 0};  // waiting takes cycles that are nobody's cost
}

#ifdef __linux__

class EventFd {
 public:
  EventFd() : fd_(eventfd(0, 0)) {
    if (fd_ < 0) throw std::runtime_error("eventfd: can't be made");
  }
  ~EventFd() { close(fd_); }
  EventFd(const EventFd&) = delete;
  EventFd& operator=(const EventFd&) = delete;

  void signal() const {
    const std::uint64_t one = 1;
    if (write(fd_, &one, sizeof(one)) != sizeof(one)) throw std::runtime_error("eventfd: write");
  }
  void wait() const {
    std::uint64_t value = 0;
    if (read(fd_, &value, sizeof(value)) != sizeof(value))
      throw std::runtime_error("eventfd: read");
  }

 private:
  int fd_;
};

// Both sleep until the other one has signalled: each operation is one wake-up.
Reading eventfd_wakeup(Meter& meter, const Place& place, std::uint32_t times) {
  const EventFd there;
  const EventFd back;
  std::thread other([&] {
    const Pinned pinned(place.second_cpu);
    for (std::uint32_t i = 0; i < times; i += 2) {
      there.wait();
      back.signal();
    }
  });
  meter.start();
  for (std::uint32_t i = 0; i < times; i += 2) {
    there.signal();
    back.wait();
  }
  const Reading reading = meter.stop();
  other.join();
  return {.ns = reading.ns, .cycles = 0};
}
constexpr auto eventfd_missing = second_missing;

#else

Reading eventfd_wakeup(Meter&, const Place&, std::uint32_t) { return {}; }
std::string eventfd_missing(const Place&) { return "not Linux"; }

#endif

}  // namespace

void add_threads(std::vector<Probe>& all) {
  all.insert(all.end(), {{"line_transfer", "a modified cache line to another processor", 4096,
                          second_missing, line_transfer},
                         {"eventfd_wakeup",
                          "from a write to an eventfd until its reader on another processor runs",
                          128, eventfd_missing, eventfd_wakeup}});
}

}  // namespace vringlab::measure
