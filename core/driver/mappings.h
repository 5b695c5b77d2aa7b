// What a ring has mapped, in the driver's own memory: the device may write the
// descriptor table, and must not choose what is unmapped.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/driver/buffer.h"
#include "core/driver/dma.h"

namespace vringlab {

// One place a descriptor of the ring, then one an entry of each head's table.
template <DmaApi Dma>
class Mappings {
 public:
  Mappings(Dma* dma, std::size_t descriptors, std::size_t table_entries)
      : dma_(dma),
        places_(descriptors + descriptors * table_entries),
        entries_(descriptors),
        tables_(descriptors),
        table_entries_(table_entries) {}

  Dma* dma() const { return dma_; }

  RingError map(std::size_t place, GuestAddr addr, std::uint32_t len, DmaDirection way) {
    assert(!places_[place].mapped);
    const Result<DmaAddr> mapped = dma_->map(addr, len, way);
    if (!mapped.ok()) return mapped.error();
    places_[place] = {mapped.value(), len, way, true};
    return RingError::kNone;
  }
  // Nothing, where nothing is mapped.
  void unmap(std::size_t place) {
    Mapping& mapping = places_[place];
    if (!mapping.mapped) return;
    mapping.mapped = false;
    dma_->unmap(mapping.addr, mapping.len, mapping.way);
  }
  DmaAddr addr(std::size_t place) const { return places_[place].addr; }

  // Maps all buffers, from place `first` on, or none. `next` names the place behind a place.
  template <class Next>
  RingError map_all(std::span<const Buffer> readable, std::span<const Buffer> writable,
                    std::size_t first, Next next) {
    std::size_t place = first;
    for (std::size_t i = 0; i < readable.size() + writable.size(); ++i, place = next(place)) {
      const bool write = i >= readable.size();
      const Buffer& buffer = write ? writable[i - readable.size()] : readable[i];
      const RingError error = map(place, buffer.addr, buffer.len,
                                  write ? DmaDirection::kFromDevice : DmaDirection::kToDevice);
      if (error == RingError::kNone) continue;
      unmap_all(first, i, next);
      return error;
    }
    return RingError::kNone;
  }
  template <class Next>
  void unmap_all(std::size_t place, std::size_t count, Next next) {
    for (; count > 0; --count, place = next(place)) unmap(place);
  }

  // The place of the first entry of the table of `head`.
  std::size_t table_place(std::uint16_t head) const { return tables_ + head * table_entries_; }
  // How many entries of its table `head` uses; 0: none.
  std::uint16_t& entries(std::uint16_t head) { return entries_[head]; }

 private:
  struct Mapping {
    DmaAddr addr;
    std::uint32_t len = 0;  // bytes
    DmaDirection way = DmaDirection::kToDevice;
    bool mapped = false;  // and not yet unmapped
  };

  Dma* dma_;
  std::vector<Mapping> places_;
  std::vector<std::uint16_t> entries_;  // by head
  std::size_t tables_;                  // the place of the first entry of the first table
  std::size_t table_entries_;           // places a table
};

// Nothing is ever mapped.
template <DmaApi Dma>
requires(!Dma::kMaps) class Mappings<Dma> {
 public:
  Mappings(Dma*, std::size_t, std::size_t) {}
  Dma* dma() const { return nullptr; }
};

}  // namespace vringlab
