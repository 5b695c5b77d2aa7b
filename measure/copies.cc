// Copies between two buffers that fit a cache: by the C library, and by the string
// instruction that a kernel copies with.
#include <array>
#include <cstring>
#include <memory>

#include "measure/probe.h"

namespace vringlab::measure {
namespace {

constexpr std::size_t kLargest = 65536;
constexpr std::size_t kAlign = 64;

// Two buffers whose places in a page differ, so that loads don't look as if they needed
// the stores before them.
struct Buffers {
  alignas(kAlign) std::array<char, kLargest> source{};
  std::array<char, 1024> between{};
  alignas(kAlign) std::array<char, kLargest> target{};
};

template <std::size_t kBytes>
Reading library_copy(Meter& meter, const Place&, std::uint32_t times) {
  const auto buffers = std::make_unique<Buffers>();
  void* (*copy)(void*, const void*, std::size_t) = std::memcpy;
  asm volatile("" : "+r"(copy));  // else short ones are no call
  meter.start();
  for (std::uint32_t i = 0; i < times; ++i) {
    copy(buffers->target.data(), buffers->source.data(), kBytes);
    keep(*buffers);
  }
  return meter.stop();
}

#if defined(__x86_64__)
template <std::size_t kBytes>
Reading string_copy(Meter& meter, const Place&, std::uint32_t times) {
  const auto buffers = std::make_unique<Buffers>();
  meter.start();
  for (std::uint32_t i = 0; i < times; ++i) {
    void* target = buffers->target.data();
    const void* source = buffers->source.data();
    std::size_t bytes = kBytes;
    asm volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(bytes) : : "memory");
  }
  return meter.stop();
}
constexpr auto string_missing = nothing_missing;
#else
template <std::size_t kBytes>
Reading string_copy(Meter&, const Place&, std::uint32_t) {
  return {};
}
std::string string_missing(const Place&) { return "an instruction of x86-64"; }
#endif

// About as long whatever the size.
constexpr std::uint32_t times_for(std::size_t bytes) {
  return static_cast<std::uint32_t>((1u << 20) / (bytes + 256));
}

template <std::size_t kBytes>
void add_size(std::vector<Probe>& all, const char* library, const char* string) {
  all.push_back(
      {library, "copy by the C library", times_for(kBytes), nothing_missing, library_copy<kBytes>});
  all.push_back(
      {string, "copy by rep movsb", times_for(kBytes), string_missing, string_copy<kBytes>});
}

}  // namespace

void add_copies(std::vector<Probe>& all) {
  add_size<16>(all, "memcpy.16", "rep_movsb.16");
  add_size<64>(all, "memcpy.64", "rep_movsb.64");
  add_size<256>(all, "memcpy.256", "rep_movsb.256");
  add_size<1024>(all, "memcpy.1024", "rep_movsb.1024");
  add_size<4096>(all, "memcpy.4096", "rep_movsb.4096");
  add_size<16384>(all, "memcpy.16384", "rep_movsb.16384");
  add_size<65536>(all, "memcpy.65536", "rep_movsb.65536");
}

}  // namespace vringlab::measure
