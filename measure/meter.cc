#include "measure/meter.h"

#include <cerrno>
#include <cstring>
#include <ctime>

#ifdef __linux__
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace vringlab::measure {
namespace {

std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

#ifdef __linux__
int open_counter() {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.size = sizeof(attributes);
  attributes.config = PERF_COUNT_HW_CPU_CYCLES;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
}
#endif

}  // namespace

Meter::Meter() {
#ifdef __linux__
  counter_ = open_counter();
  if (counter_ < 0) why_not_ = std::strerror(errno);
#else
  why_not_ = "not Linux";
#endif
}

Meter::~Meter() {
#ifdef __linux__
  if (counter_ >= 0) close(counter_);
#endif
}

std::uint64_t Meter::cycles() const {
  std::uint64_t value = 0;
#ifdef __linux__
  if (counter_ >= 0 && read(counter_, &value, sizeof(value)) != sizeof(value)) value = 0;
#endif
  return value;
}

void Meter::start() {
  start_cycles_ = cycles();
  start_ns_ = now_ns();
}

Reading Meter::stop() {
  const std::uint64_t end_ns = now_ns();
  return {.ns = static_cast<double>(end_ns - start_ns_),
          .cycles = static_cast<double>(cycles() - start_cycles_)};
}

}  // namespace vringlab::measure
