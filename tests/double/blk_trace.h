// Random traces of block requests, and a reference that says what each of them must bring. A trace
// follows from its seed alone, so that any disk can be given the same one.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "tests/double/blk_rig.h"

namespace vringlab::test {

// What the driver sees of a request.
struct BlkOutcome {
  int status = 0;
  std::vector<std::byte> data = {};  // what was read, zeros if it failed
  std::uint32_t used_bytes = 0;      // the length in the used element
  bool operator==(const BlkOutcome&) const = default;
};

// Requests that are in flight together: none touches what another writes.
using BlkBatch = std::vector<BlkAsk>;
using BlkTrace = std::vector<BlkBatch>;

inline constexpr std::size_t kBlkBatchMost = 8;
inline constexpr std::uint64_t kBlkTraceSectors = 96;  // capacity of the disk
inline constexpr BlkDisk kBlkTraceDisk{
    .capacity_sectors = kBlkTraceSectors, .max_segments = 4, .id = {'t', 'r', 'a', 'c', 'e'}};

// Sectors that a request reads or writes, one bit each.
struct BlkTouched {
  std::vector<bool> read = std::vector<bool>(kBlkTraceSectors);
  std::vector<bool> written = std::vector<bool>(kBlkTraceSectors);

  explicit BlkTouched(const BlkAsk& ask) {
    if (ask.type == kBlkIn) mark(read, ask.sector, ask.in_bytes / kSectorBytes);
    if (ask.type == kBlkOut) mark(written, ask.sector, ask.out.size() / kSectorBytes);
    if (ask.type != kBlkDiscard && ask.type != kBlkWriteZeroes) return;
    for (const VirtioBlkSegment& segment : segments_of(ask))
      mark(written, segment.sector, segment.num_sectors);
  }
  bool conflicts(const BlkTouched& other) const {
    for (std::size_t i = 0; i < kBlkTraceSectors; ++i)
      if ((written[i] && (other.read[i] || other.written[i])) || (read[i] && other.written[i]))
        return true;
    return false;
  }
  static std::vector<VirtioBlkSegment> segments_of(const BlkAsk& ask) {
    std::vector<VirtioBlkSegment> segments(ask.out.size() / sizeof(VirtioBlkSegment));
    std::memcpy(segments.data(), ask.out.data(), segments.size() * sizeof(VirtioBlkSegment));
    return segments;
  }

 private:
  static void mark(std::vector<bool>& sectors, std::uint64_t sector, std::uint64_t count) {
    for (; count > 0 && sector < kBlkTraceSectors; --count, ++sector) sectors[sector] = true;
  }
};

class BlkTraceMaker {
 public:
  explicit BlkTraceMaker(std::uint64_t seed) : random_(seed) {}

  BlkTrace make(std::size_t batches) {
    BlkTrace trace(batches);
    for (BlkBatch& batch : trace) batch = any_batch();
    return trace;
  }

 private:
  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

  BlkBatch any_batch() {
    BlkBatch batch;
    std::vector<BlkTouched> touched;
    for (std::uint64_t left = 1 + below(kBlkBatchMost); left > 0; --left) {
      BlkAsk ask = any_ask();
      const BlkTouched touches(ask);
      const auto conflicts = [&](const BlkTouched& other) { return touches.conflicts(other); };
      if (std::ranges::any_of(touched, conflicts)) continue;
      touched.push_back(touches);
      batch.push_back(std::move(ask));
    }
    return batch;
  }

  BlkAsk any_ask() {
    BlkAsk ask = any_kind();
    ask.shape = kBlkShapes[below(std::size(kBlkShapes))];
    ask.indirect = one_in(3);
    return ask;
  }
  BlkAsk any_kind() {
    const std::uint64_t sectors = below(12);
    const std::uint64_t sector = below(kBlkTraceSectors - sectors + 1);
    switch (below(16)) {
      case 0:
        return {.type = kBlkGetId, .in_bytes = static_cast<std::uint32_t>(below(32))};
      case 1:
        return any_mistake(sector);
      case 2:
      case 3:
      case 4:
        return ask_flush();
      case 5:
        return ask_segments(kBlkDiscard, any_segments());
      case 6:
        return ask_segments(kBlkWriteZeroes, any_segments());
      case 7:
      case 8:
      case 9:
      case 10:
        return ask_read(sector, static_cast<std::uint32_t>(sectors * kSectorBytes));
      default:
        return ask_write(sector, any_bytes(sectors * kSectorBytes));
    }
  }
  // Mistakes that the device has to see: each is refused and has no effect.
  BlkAsk any_mistake(std::uint64_t sector) {
    switch (below(5)) {
      case 0:
        return ask_write(kBlkTraceSectors - 1, any_bytes(2 * kSectorBytes));
      case 1:
        return ask_write(sector, any_bytes(1 + below(511)));
      case 2:
        return {.type = 77, .sector = sector, .in_bytes = 512};
      case 3:
        return ask_segments(kBlkDiscard, {{sector, 1, 0}, {kBlkTraceSectors, 1, 0}});
      default:
        return ask_segments(kBlkWriteZeroes, {{sector, 1, 0}, {sector, 1, 2}});
    }
  }
  std::vector<std::byte> any_bytes(std::size_t bytes) {
    std::vector<std::byte> values(bytes);
    for (std::byte& value : values) value = std::byte(below(256));
    return values;
  }
  std::vector<VirtioBlkSegment> any_segments() {
    std::vector<VirtioBlkSegment> segments(1 + below(4));
    for (VirtioBlkSegment& segment : segments) {
      segment.num_sectors = static_cast<std::uint32_t>(below(10));
      segment.sector = below(kBlkTraceSectors - segment.num_sectors + 1);
    }
    return segments;
  }

  std::mt19937_64 random_;
};

// The disk as a map of bytes, and the format's rules written down a second time.
class BlkReference {
 public:
  std::vector<std::byte> bytes = std::vector<std::byte>(kBlkTraceSectors * kSectorBytes);

  BlkOutcome apply(const BlkAsk& ask) {
    BlkOutcome outcome{kBlkStatusIoErr, std::vector<std::byte>(ask.in_bytes), 1};
    if (ask.type == kBlkFlush) outcome.status = kBlkStatusOk;
    if (ask.type == kBlkIn && fits(ask.sector, ask.in_bytes)) read(ask, outcome);
    if (ask.type == kBlkOut && fits(ask.sector, ask.out.size())) write(ask, outcome);
    if (ask.type == kBlkGetId) identify(ask, outcome);
    if (ask.type == kBlkDiscard || ask.type == kBlkWriteZeroes) zero(ask, outcome);
    if (ask.type > kBlkWriteZeroes) outcome.status = kBlkStatusUnsupp;
    return outcome;
  }

 private:
  static bool fits(std::uint64_t sector, std::uint64_t count) {
    return count % kSectorBytes == 0 && sector + count / kSectorBytes <= kBlkTraceSectors;
  }
  auto at(std::uint64_t sector) {
    return bytes.begin() + static_cast<std::ptrdiff_t>(sector * kSectorBytes);
  }
  void read(const BlkAsk& ask, BlkOutcome& outcome) {
    std::copy_n(at(ask.sector), ask.in_bytes, outcome.data.begin());
    outcome.status = kBlkStatusOk;
    outcome.used_bytes += ask.in_bytes;
  }
  void write(const BlkAsk& ask, BlkOutcome& outcome) {
    std::ranges::copy(ask.out, at(ask.sector));
    outcome.status = kBlkStatusOk;
  }
  void identify(const BlkAsk& ask, BlkOutcome& outcome) {
    const std::size_t count = std::min<std::size_t>(ask.in_bytes, kIdBytes);
    for (std::size_t i = 0; i < count; ++i) outcome.data[i] = std::byte(kBlkTraceDisk.id[i]);
    outcome.status = kBlkStatusOk;
    outcome.used_bytes += static_cast<std::uint32_t>(count);
  }
  void zero(const BlkAsk& ask, BlkOutcome& outcome) {
    const auto segments = BlkTouched::segments_of(ask);
    for (const VirtioBlkSegment& segment : segments) {
      if (segment.flags != 0) outcome.status = kBlkStatusUnsupp;
      if (segment.flags != 0 || segment.sector + segment.num_sectors > kBlkTraceSectors) return;
    }
    for (const VirtioBlkSegment& segment : segments)
      std::fill_n(at(segment.sector), segment.num_sectors * kSectorBytes, std::byte{0});
    outcome.status = kBlkStatusOk;
  }
};

inline std::vector<BlkOutcome> expected_outcomes(const BlkTrace& trace, BlkReference& reference) {
  std::vector<BlkOutcome> outcomes;
  for (const BlkBatch& batch : trace)
    for (const BlkAsk& ask : batch) outcomes.push_back(reference.apply(ask));
  return outcomes;
}

// Plays a trace on a queue, one batch after the other. `drain(blk)` completes something of what is
// pending with the store, if anything is.
template <class S, class Guest, class Drain>
std::vector<BlkOutcome> play_trace(BlkRig<S, Guest>& rig, const BlkTrace& trace, Drain drain) {
  std::vector<BlkOutcome> outcomes;
  for (const BlkBatch& batch : trace) {
    std::uint16_t seen = rig.ring.used_idx();
    for (std::size_t i = 0; i < batch.size(); ++i)
      rig.offer(static_cast<std::uint16_t>(i * kBlkMaxDescriptors), batch[i]);
    while (rig.ring.used_idx() != rig.ring.avail_idx()) {
      rig.run();
      drain(rig.blk);
    }
    std::vector<BlkOutcome> done(batch.size());
    for (; seen != rig.ring.used_idx(); ++seen) {
      const UsedElem used = rig.ring.used(seen & rig.ring.areas.mask());
      const auto head = static_cast<std::uint16_t>(used.id);
      const BlkAsk& ask = batch[head / kBlkMaxDescriptors];
      done[head / kBlkMaxDescriptors] = {rig.status(head, ask), rig.data(head, ask), used.len};
    }
    outcomes.insert(outcomes.end(), done.begin(), done.end());
  }
  return outcomes;
}

}  // namespace vringlab::test
