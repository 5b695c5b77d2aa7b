// The clock's rate and single instructions. Loops do sixteen at a time, so that what is
// around them hardly counts.
#include <atomic>

#include "measure/probe.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace vringlab::measure {
namespace {

constexpr std::uint32_t kUnrolled = 16;

template <class One>
Reading metered(Meter& meter, std::uint32_t times, One one) {
  meter.start();
  for (std::uint32_t i = 0; i < times; i += kUnrolled) {
    one(), one(), one(), one(), one(), one(), one(), one();
    one(), one(), one(), one(), one(), one(), one(), one();
  }
  return meter.stop();
}

// A chain of additions, each of which needs the one before it: one a cycle.
Reading additions(Meter& meter, const Place&, std::uint32_t times) {
  std::uint64_t value = 1;
  const Reading reading = metered(meter, times, [&] {
    value += value;
    asm volatile("" : "+r"(value));
  });
  keep(value);
  return reading;
}

Reading atomic_add(Meter& meter, const Place&, std::uint32_t times) {
  std::atomic<std::uint64_t> word{0};
  return metered(meter, times, [&] { word.fetch_add(1, std::memory_order_seq_cst); });
}

[[gnu::noinline]] void callee() { asm volatile(""); }

Reading direct_call(Meter& meter, const Place&, std::uint32_t times) {
  return metered(meter, times, [] { callee(); });
}

Reading indirect_call(Meter& meter, const Place&, std::uint32_t times) {
  void (*target)() = callee;
  return metered(meter, times, [&] {
    asm volatile("" : "+r"(target));
    target();
  });
}

#if defined(__x86_64__)

Reading lfence(Meter& meter, const Place&, std::uint32_t times) {
  return metered(meter, times, [] { asm volatile("lfence" ::: "memory"); });
}
Reading mfence(Meter& meter, const Place&, std::uint32_t times) {
  return metered(meter, times, [] { asm volatile("mfence" ::: "memory"); });
}
// On the thread's own stack, as a kernel's smp_mb does it.
Reading lock_add(Meter& meter, const Place&, std::uint32_t times) {
  std::uint32_t word = 0;
  return metered(meter, times, [&] {
    asm volatile("lock; addl $0, %0" : "+m"(word) : : "memory", "cc");
  });
}

// Protection keys that the kernel has turned on: OSPKE.
std::string wrpkru_missing(const Place&) {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  const bool known = __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0;
  return known && (ecx & (1u << 4)) != 0 ? "" : "protection keys are not in use here";
}
// Writes what is there already.
Reading wrpkru(Meter& meter, const Place&, std::uint32_t times) {
  std::uint32_t rights = 0, zero = 0;
  asm volatile("rdpkru" : "=a"(rights), "=d"(zero) : "c"(0));
  return metered(meter, times, [&] {
    asm volatile("wrpkru" : : "a"(rights), "c"(0), "d"(0) : "memory");
  });
}

constexpr auto x86_missing = nothing_missing;

#else

Reading absent(Meter&, const Place&, std::uint32_t) { return {}; }
constexpr auto lfence = absent, mfence = absent, lock_add = absent, wrpkru = absent;
std::string x86_missing(const Place&) { return "an instruction of x86-64"; }
constexpr auto wrpkru_missing = x86_missing;

#endif

}  // namespace

void add_instructions(std::vector<Probe>& all) {
  all.insert(
      all.end(),
      {{"cycle", "an addition that needs the one before it", 1 << 18, nothing_missing, additions},
       {"lfence", "lfence, one after the other", 1 << 14, x86_missing, lfence},
       {"mfence", "mfence, one after the other", 1 << 14, x86_missing, mfence},
       {"lock_add", "lock addl to the stack", 1 << 14, x86_missing, lock_add},
       {"atomic_add", "atomic addition to a word in L1", 1 << 14, nothing_missing, atomic_add},
       {"direct_call", "call and return", 1 << 16, nothing_missing, direct_call},
       {"indirect_call", "call by a pointer, predicted, and return", 1 << 16, nothing_missing,
        indirect_call},
       {"wrpkru", "write of the protection key rights", 1 << 13, wrpkru_missing, wrpkru}});
}

}  // namespace vringlab::measure
