// The same engine on plain memory and on the simulated machine, fed the same random
// traces of a driver that makes mistakes: what the guest sees, what the sink is
// given and what is counted must be the same, whatever the access plan.
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/cost/random.h"
#include "tests/double/model_tx.h"

namespace vringlab {
namespace {

using sim::AccessPlan;
using sim::RandomStream;
using test::kEventIdx;
using test::kIndirect;
using test::RawRing;

constexpr std::uint64_t kTables = 0x8000;  // where indirect tables lie
constexpr std::uint64_t kData = 0x10000;   // and buffers, up to the end of guest memory

// One device operation as it turned out.
struct Event {
  int action;
  int outcome;
  bool operator==(const Event&) const = default;
};

// A driver without manners. All it does follows from the seed and from guest memory.
template <class Rig>
class Player {
 public:
  Player(Rig& rig, std::uint64_t seed) : rig_(&rig), random_(seed) {
    // Something to copy, different at every byte.
    for (std::byte& b : rig.guest_bytes().subspan(kData)) b = std::byte(random_.next() % 256);
  }

  const std::vector<Event>& events() const { return events_; }
  int breaks() const { return breaks_; }

  void play(int actions) {
    for (int i = 0; i < actions; ++i) act(static_cast<int>(below(20)));
  }

 private:
  std::uint64_t below(std::uint64_t n) { return random_.next() % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  RawRing& ring() { return rig_->ring; }
  std::uint16_t any_head() { return static_cast<std::uint16_t>(below(ring().areas.size)); }

  void act(int action) {
    if (action < 8) {
      offer();
    } else if (action < 15) {
      for (std::uint64_t i = 1 + below(6); i > 0; --i) step();
    } else if (action == 15) {
      note(action, rig_->tx.arm() ? 1 : 0);
    } else if (action == 16) {
      rig_->tx.finish();
    } else if (action == 17) {
      suppress();
    } else if (action == 18) {
      rig_->sink.refuses = one_in(5);
    } else if (one_in(4)) {
      reset();
    }
  }

  void note(int action, int outcome) { events_.push_back({action, outcome}); }

  void step() {
    const Turn turn = rig_->tx.step();
    note(8, static_cast<int>(turn));
    if (turn == Turn::kBroken) {
      ++breaks_;
      reset();
    }
  }

  // Both indices back to zero, as a driver that sets the queue up again leaves them.
  void reset() {
    rig_->tx.reset();
    ring().avail_idx() = 0;
    ring().used_idx() = 0;
  }

  void suppress() {
    ring().avail_flags() = static_cast<std::uint16_t>(below(2));
    if (ring().config.has(kFeatureRingEventIdx))
      ring().used_event() = static_cast<std::uint16_t>(ring().used_idx() + below(4));
  }

  // A chain at a head that is mostly free, and now and then an entry that lies.
  void offer() {
    const auto head = static_cast<std::uint16_t>(ring().avail_idx() & ring().areas.mask());
    if (!one_in(60) && in_flight() >= ring().areas.size) return;
    if (ring().config.has(kFeatureRingIndirectDesc) && one_in(2)) {
      put_table(head);
    } else {
      put_chain(head);
    }
    ring().offer(one_in(100) ? static_cast<std::uint16_t>(below(0x10000)) : head);
    if (one_in(300)) ring().avail_idx() = static_cast<std::uint16_t>(below(0x10000));
  }
  std::uint16_t in_flight() { return index_distance(ring().avail_idx(), ring().used_idx()); }

  std::uint32_t any_length() {
    switch (below(6)) {
      case 0:
        return static_cast<std::uint32_t>(below(4));  // 0 is legal
      case 1:
        return sizeof(VirtioNetHdr);
      case 2:
        return static_cast<std::uint32_t>(below(4500));
      case 3:
        return one_in(20) ? UINT32_MAX : 26;
      default:
        return static_cast<std::uint32_t>(12 + below(120));
    }
  }
  Desc any_buffer() {
    Desc desc{kData + below(0x10000), any_length(), 0, 0};
    if (one_in(25)) desc.addr = random_.next();
    if (one_in(40)) desc.flags = static_cast<std::uint16_t>(below(8));
    return desc;
  }

  // The entries of a chain: the next ones in order, or anywhere.
  void put_chain(std::uint16_t head) {
    std::uint16_t index = head;
    for (std::uint64_t left = below(4);; --left) {
      Desc desc = any_buffer();
      if (left > 0) {
        desc.flags |= kDescNext;
        desc.next = one_in(50) ? static_cast<std::uint16_t>(below(0x10000)) : any_head();
      }
      ring().desc(index) = desc;
      if (left == 0 || desc.next >= ring().areas.size) return;
      index = desc.next;
    }
  }

  void put_table(std::uint16_t head) {
    const std::uint64_t entries = 1 + below(5);
    std::uint64_t table = kTables + 16 * below(0x700) + (one_in(3) ? below(16) : 0);
    ring().desc(head) = {table, static_cast<std::uint32_t>(entries * sizeof(Desc)), kDescIndirect,
                         0};
    if (one_in(40)) ring().desc(head).len += static_cast<std::uint32_t>(below(40));
    for (std::uint64_t i = 0; i < entries; ++i, table += sizeof(Desc)) {
      Desc entry = any_buffer();
      if (i + 1 < entries) {
        entry.flags |= kDescNext;
        entry.next = static_cast<std::uint16_t>(one_in(50) ? below(9) : i + 1);
      }
      std::memcpy(rig_->guest_bytes().data() + table, &entry, sizeof(entry));
    }
  }

  Rig* rig_;
  RandomStream random_;
  std::vector<Event> events_;
  int breaks_ = 0;
};

struct Trace {
  QueueConfig ring;
  NetTxConfig options;
  AccessPlan plan;
  std::uint64_t seed;
};

template <class T>
T one_of(RandomStream& random, std::initializer_list<T> values) {
  return values.begin()[random.next() % values.size()];
}

AccessPlan any_plan(RandomStream& random) {
  return {.map_desc = random.next() % 2 == 0,
          .map_avail = random.next() % 2 == 0,
          .map_used = random.next() % 2 == 0,
          .guard = static_cast<sim::Guard>(random.next() % 5),
          .user_access = static_cast<sim::UserAccess>(random.next() % 4),
          .section_span = static_cast<sim::SectionSpan>(random.next() % 2),
          .used_element = static_cast<sim::UsedElement>(random.next() % 2)};
}

Trace any_trace(std::uint64_t seed) {
  RandomStream random(seed);
  const auto size = one_of<std::uint32_t>(random, {2, 8, 64});
  const auto features =
      one_of<std::uint64_t>(random, {0, kEventIdx, kIndirect, kEventIdx | kIndirect});
  return {.ring = test::packed_ring(size, features),
          .options = {.batch = one_of<std::uint32_t>(random, {1, 3, 64}),
                      .copy_batch = one_of<std::uint32_t>(random, {1, 1, 4, 100}),
                      .socket = {.batches = random.next() % 4 != 0},
                      .weight = {.packets = one_of<std::uint32_t>(random, {1, 5, 256}),
                                 .bytes = one_of<std::uint32_t>(random, {200, 0x80000})}},
          .plan = any_plan(random),
          .seed = random.next()};
}

// Takes the model's mappings away and gives them back, which no guest may notice.
class Unmapper {
 public:
  Unmapper(test::ModelTx& model, const AccessPlan& plan, std::uint64_t seed)
      : model_(&model), plan_(plan), random_(seed) {}
  void turn() { model_->model.context.set_unmapped(plan_, random_.next() % 3 == 0); }

 private:
  test::ModelTx* model_;
  AccessPlan plan_;
  RandomStream random_;
};

void expect_equal_counters(const NetTxCounters& a, const NetTxCounters& b) {
  EXPECT_EQ(a.taken, b.taken);
  EXPECT_EQ(a.packets, b.packets);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.batches, b.batches);
  EXPECT_EQ(a.alone, b.alone);
  EXPECT_EQ(a.dropped, b.dropped);
  EXPECT_EQ(a.refused, b.refused);
  EXPECT_EQ(a.calls, b.calls);
  EXPECT_EQ(a.last_error, b.last_error);
}

void expect_equal_frames(const test::KeepingSink& a, const test::KeepingSink& b) {
  EXPECT_EQ(a.batches, b.batches);
  ASSERT_EQ(a.frames.size(), b.frames.size());
  for (std::size_t i = 0; i < a.frames.size(); ++i) {
    ASSERT_EQ(a.frames[i].bytes, b.frames[i].bytes) << "frame " << i;
    ASSERT_EQ(std::memcmp(&a.frames[i].header, &b.frames[i].header, sizeof(VirtioNetHdr)), 0)
        << "frame " << i;
  }
}

void expect_equal_memory(std::span<const std::byte> a, std::span<const std::byte> b) {
  if (a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0) return;
  const auto [in_a, in_b] = std::ranges::mismatch(a, b);
  EXPECT_EQ(in_a, a.end()) << "first at " << in_a - a.begin();
  EXPECT_EQ(in_b, b.end());
}

struct Seen {
  std::uint64_t packets = 0;
  std::uint64_t refused = 0;
  std::uint64_t dropped = 0;
  std::uint64_t calls = 0;
  std::uint64_t breaks = 0;
};

void expect_same_outcome(const Trace& trace, Seen& seen) {
  test::PlainTx plain(trace.ring, trace.options);
  test::ModelTx model(trace.ring, trace.options, trace.plan);
  Player plain_player(plain, trace.seed);
  Player model_player(model, trace.seed);
  Unmapper unmapper(model, trace.plan, trace.seed);
  for (int i = 0; i < 40; ++i) {
    plain_player.play(10);
    model_player.play(10);
    unmapper.turn();
    ASSERT_EQ(plain_player.events(), model_player.events()) << "after " << i;
    expect_equal_memory(plain.guest_bytes(), model.guest_bytes());
    if (testing::Test::HasFailure()) return;
  }
  expect_equal_counters(plain.tx.counters(), model.tx.counters());
  expect_equal_frames(plain.sink, model.sink);
  EXPECT_EQ(plain.caller.calls, model.caller.calls);
  EXPECT_EQ(plain.pool.outstanding(), model.pool.outstanding());
  EXPECT_EQ(model.model.device_core.ledger().total_ps(), model.model.device_core.busy_ps());
  const NetTxCounters& counters = model.tx.counters();
  seen.packets += counters.packets;
  seen.refused += counters.refused;
  seen.dropped += counters.dropped;
  seen.calls += counters.calls;
  seen.breaks += static_cast<std::uint64_t>(model_player.breaks());
}

TEST(Differential, net_tx_does_the_same_on_plain_and_on_simulated_memory) {
  Seen seen;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    expect_same_outcome(any_trace(seed), seen);
    if (testing::Test::HasFailure()) return;
  }
  // The traces are worth something: all that can happen did, many times.
  EXPECT_GT(seen.packets, 3000u);
  EXPECT_GT(seen.refused, 300u);
  EXPECT_GT(seen.dropped, 150u);
  EXPECT_GT(seen.calls, 300u);
  EXPECT_GT(seen.breaks, 50u);
}

}  // namespace
}  // namespace vringlab
