// What a file disk keeps when power is cut, at every operation of random traces: all that a flush
// promised, and no sector in parts.
#include <gtest/gtest.h>

#include "core/backend/blk/file_store.h"
#include "tests/double/blk_trace.h"
#include "tests/double/volatile_file.h"

namespace vringlab {
namespace {

using test::ask_flush;
using test::ask_read;
using test::ask_write;
using test::blk_pattern;
using test::BlkAsk;
using test::BlkBatch;
using test::BlkReference;
using test::BlkRig;
using test::BlkTouched;
using test::BlkTrace;
using test::BlkTraceMaker;
using test::kBlkMaxDescriptors;
using test::kBlkTraceDisk;
using test::kBlkTraceSectors;
using test::PowerCut;
using test::Sector;
using test::VolatileFile;

using Store = FileStore<VolatileFile>;

// What each sector may hold after a power cut.
class Promises {
 public:
  explicit Promises(const std::vector<Sector>& durable) {
    for (const Sector& sector : durable) sectors_.push_back({{sector}, 0, 0});
  }

  // Requests are offered together: a flush among them covers what had completed before, at least.
  void begin_batch() {
    for (auto& sector : sectors_) sector.acknowledged = sector.versions.size() - 1;
  }
  // A write may have reached the medium whether it was answered or not.
  void add(std::uint64_t number, const Sector& content) {
    sectors_[number].versions.push_back(content);
  }
  void flushed() {
    for (auto& sector : sectors_) sector.promised = sector.acknowledged;
  }
  bool allow(std::uint64_t number, const Sector& content) const {
    const auto& sector = sectors_[number];
    const auto from = sector.versions.begin() + static_cast<std::ptrdiff_t>(sector.promised);
    return std::find(from, sector.versions.end(), content) != sector.versions.end();
  }

 private:
  struct History {
    std::vector<Sector> versions;  // in the order they were written
    std::size_t promised;          // of them, the oldest that may be there
    std::size_t acknowledged;      // of them, the newest that had completed when the batch began
  };
  std::vector<History> sectors_;
};

Sector sector_of(const std::vector<std::byte>& bytes, std::uint64_t number) {
  Sector sector;
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(number * kSectorBytes), kSectorBytes,
              sector.begin());
  return sector;
}

// Plays a trace until power is cut, if it is. Returns what must hold afterwards.
Promises play_until_cut(const BlkTrace& trace, VolatileFile& file,
                        const std::vector<Sector>& durable) {
  Promises promises(durable);
  BlkReference reference;
  Store store(file);
  BlkRig<Store> rig(store, {.disk = kBlkTraceDisk});
  for (const BlkBatch& batch : trace) {
    promises.begin_batch();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      reference.apply(batch[i]);
      const BlkTouched touched(batch[i]);
      for (std::uint64_t s = 0; s < kBlkTraceSectors; ++s)
        if (touched.written[s]) promises.add(s, sector_of(reference.bytes, s));
      rig.offer(static_cast<std::uint16_t>(i * kBlkMaxDescriptors), batch[i]);
    }
    bool cut = false;
    std::uint16_t seen = rig.ring.used_idx();
    try {
      rig.run();
    } catch (const PowerCut&) {
      cut = true;
    }
    for (; seen != rig.ring.used_idx(); ++seen) {
      const std::uint32_t head = rig.ring.used(seen & rig.ring.areas.mask()).id;
      if (batch[head / kBlkMaxDescriptors].type == kBlkFlush) promises.flushed();
    }
    if (cut) break;
  }
  return promises;
}

// The disk after a restart, read through a new device.
std::vector<Sector> read_back(std::vector<Sector> survived) {
  VolatileFile file(std::move(survived), VolatileFile::kNever, 0);
  Store store(file);
  BlkRig<Store> rig(store, {.disk = kBlkTraceDisk});
  std::vector<Sector> sectors;
  constexpr std::uint32_t kAtOnce = 12;
  static_assert(kBlkTraceSectors % kAtOnce == 0);
  for (std::uint64_t s = 0; s < kBlkTraceSectors; s += kAtOnce) {
    const BlkAsk ask = ask_read(s, kAtOnce * kSectorBytes);
    rig.offer(0, ask);
    rig.run();
    EXPECT_EQ(rig.status(0, ask), kBlkStatusOk);
    const auto data = rig.data(0, ask);
    for (std::uint64_t i = 0; i < kAtOnce; ++i) sectors.push_back(sector_of(data, i));
  }
  return sectors;
}

void expect_kept(const Promises& promises, const std::vector<Sector>& sectors) {
  for (std::uint64_t s = 0; s < kBlkTraceSectors; ++s)
    ASSERT_TRUE(promises.allow(s, sectors[s])) << "sector " << s;
}

const std::vector<Sector> kNew(kBlkTraceSectors);

TEST(BlkPower, cut_at_every_operation) {
  std::uint64_t cuts = 0;
  for (std::uint64_t seed = 1; seed <= 10 && !testing::Test::HasFailure(); ++seed) {
    const BlkTrace trace = BlkTraceMaker(seed).make(8);
    VolatileFile whole(kNew, VolatileFile::kNever, seed);
    play_until_cut(trace, whole, kNew);
    for (std::uint64_t cut = 0; cut <= whole.operations() && !testing::Test::HasFailure(); ++cut) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", cut at " << cut);
      VolatileFile file(kNew, cut, seed);
      const Promises promises = play_until_cut(trace, file, kNew);
      for (std::uint64_t medium = 0; medium < 2; ++medium, ++cuts)
        expect_kept(promises, read_back(file.after_power_cut(medium)));
    }
  }
  EXPECT_GT(cuts, 500u);
}

// A disk of one file whose power can be cut.
struct PowerRig {
  VolatileFile file{kNew, VolatileFile::kNever, 0};
  Store store{file};
  BlkRig<Store> rig{store, {.disk = kBlkTraceDisk}};

  void serve(const BlkAsk& ask) {
    rig.offer(0, ask);
    rig.run();
    EXPECT_EQ(rig.status(0, ask), kBlkStatusOk);
  }
};

// How often `content` is at sector 5 after a power cut, in 100 of them.
int times_kept(const VolatileFile& file, const std::vector<std::byte>& content) {
  int kept = 0;
  for (std::uint64_t medium = 0; medium < 100; ++medium)
    if (file.after_power_cut(medium)[5] == sector_of(content, 0)) ++kept;
  return kept;
}

TEST(BlkPower, b6_a_flush_keeps_what_completed_before_it) {
  PowerRig host;
  const auto data = blk_pattern(512, 3);
  host.serve(ask_write(5, data));
  const int unflushed = times_kept(host.file, data);
  EXPECT_GT(unflushed, 10);  // either may be there
  EXPECT_LT(unflushed, 90);
  host.serve(ask_flush());
  EXPECT_EQ(times_kept(host.file, data), 100);
}

// Keeps writes for later, and passes the rest on.
struct LateWrites {
  Store& store;
  std::vector<BlkIo> held = {};

  template <PayloadAccess P>
  Submitted submit(P& payload, const BlkIo& io, BlkStatus& status) {
    if (io.op != BlkOp::kWrite) return store.submit(payload, io, status);
    held.push_back(io);
    return Submitted::kPending;
  }
  void end_batch() {}
};

TEST(BlkPower, b6_a_flush_before_a_write_completed_promises_nothing) {
  VolatileFile file{kNew, VolatileFile::kNever, 0};
  Store store{file};
  LateWrites late{store};
  BlkRig<LateWrites> rig(late, {.disk = kBlkTraceDisk});
  const BlkAsk write = ask_write(5, blk_pattern(512, 3));
  rig.offer(0, write);
  rig.offer(8, ask_flush());
  rig.run();
  EXPECT_EQ(rig.status(8, ask_flush()), kBlkStatusOk);
  EXPECT_EQ(rig.ring.used(0).id, 8u);
  EXPECT_EQ(rig.ring.used_idx(), 1);
  BlkStatus status = BlkStatus::kIoErr;
  store.submit(rig.blk.ring().payload(), late.held.front(), status);
  rig.blk.complete(late.held.front().slot, status);
  EXPECT_EQ(rig.status(0, write), kBlkStatusOk);
  EXPECT_LT(times_kept(file, write.out), 90);
  rig.offer(8, ask_flush());
  rig.run();
  EXPECT_EQ(times_kept(file, write.out), 100);
}

}  // namespace
}  // namespace vringlab
