// Random traces of a driver that makes mistakes, played on one queue twice: on plain
// memory and on the simulated machine, whatever the access plan.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/device/turn.h"
#include "core/spec/net.h"
#include "sim/access/plan.h"
#include "sim/cost/random.h"
#include "tests/double/raw_guest.h"

namespace vringlab::test {

inline constexpr std::uint64_t kTables = 0x8000;  // where indirect tables lie
inline constexpr std::uint64_t kData = 0x10000;   // and buffers, up to the end of guest memory

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
      note(action, rig_->device().arm() ? 1 : 0);
    } else if (action == 16) {
      rig_->device().finish();
    } else if (action == 17) {
      suppress();
    } else if (action == 18) {
      rig_->host_acts(random_.next());
    } else if (one_in(4)) {
      reset();
    }
  }

  void note(int action, int outcome) { events_.push_back({action, outcome}); }

  void step() {
    const Turn turn = rig_->device().step();
    note(8, static_cast<int>(turn));
    if (turn == Turn::kBroken) {
      ++breaks_;
      reset();
    }
  }

  // Both indices back to zero, as a driver that sets the queue up again leaves them.
  void reset() {
    rig_->device().reset();
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
    Desc desc{kData + below(0x10000), any_length(), Rig::kBufferFlags, 0};
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
  sim::RandomStream random_;
  std::vector<Event> events_;
  int breaks_ = 0;
};

template <class T>
T one_of(sim::RandomStream& random, std::initializer_list<T> values) {
  return values.begin()[random.next() % values.size()];
}

inline sim::AccessPlan any_plan(sim::RandomStream& random) {
  return {.map_desc = random.next() % 2 == 0,
          .map_avail = random.next() % 2 == 0,
          .map_used = random.next() % 2 == 0,
          .guard = static_cast<sim::Guard>(random.next() % 5),
          .user_access = static_cast<sim::UserAccess>(random.next() % 4),
          .section_span = static_cast<sim::SectionSpan>(random.next() % 2),
          .used_element = static_cast<sim::UsedElement>(random.next() % 2)};
}

// Takes the model's mappings away and gives them back, which no guest may notice.
template <class Model>
class Unmapper {
 public:
  Unmapper(Model& model, const sim::AccessPlan& plan, std::uint64_t seed)
      : model_(&model), plan_(plan), random_(seed) {}
  void turn() { model_->model.context.set_unmapped(plan_, random_.next() % 3 == 0); }

 private:
  Model* model_;
  sim::AccessPlan plan_;
  sim::RandomStream random_;
};

inline void expect_equal_memory(std::span<const std::byte> a, std::span<const std::byte> b) {
  if (a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0) return;
  const auto [in_a, in_b] = std::ranges::mismatch(a, b);
  EXPECT_EQ(in_a, a.end()) << "first at " << in_a - a.begin();
  EXPECT_EQ(in_b, b.end());
}

}  // namespace vringlab::test
