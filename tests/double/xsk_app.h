// The application's side of an AF_XDP socket: a umem and four rings whose every
// word can be written raw, in guest memory of their own.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/driver/xsk_ring.h"
#include "core/driver/xsk_umem.h"
#include "tests/double/raw_guest.h"

namespace vringlab::test {

// A ring and its other end.
template <class T>
struct XskRing {
  std::uint32_t producer = 0;
  std::uint32_t consumer = 0;
  std::vector<T> entries;

  explicit XskRing(std::uint32_t size, std::uint32_t start = 0)
      : producer(start), consumer(start), entries(size) {}
  XskRingAreas<T> areas() {
    return {&producer, &consumer, entries.data(), static_cast<std::uint32_t>(entries.size())};
  }
  T& at(std::uint32_t index) { return entries[index & (entries.size() - 1)]; }

  std::uint32_t filled() const { return producer - consumer; }
  bool offer(const T& entry) {
    if (filled() == entries.size()) return false;
    at(producer) = entry;
    ++producer;
    return true;
  }
  T collect() { return at(consumer++); }
};

struct XskApp {
  XskRing<std::uint64_t> fill;
  XskRing<std::uint64_t> completion;
  XskRing<XdpDesc> rx;
  XskRing<XdpDesc> tx;

  explicit XskApp(std::uint32_t size) : fill(size), completion(size), rx(size), tx(size) {}
};

}  // namespace vringlab::test
