// The device half twice, to be counted under callgrind: as the engine has it and
// written by hand against the ring areas, with the same checks and the same
// state, without access classes, scopes, order points and layers of functions.
//
//   device_loop engine|by_hand ROUNDS
#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "tests/double/ring_pair.h"

namespace vringlab {
namespace {

constexpr std::uint16_t kRingSize = 256;
constexpr std::uint16_t kBatch = 64;

__attribute__((noinline)) void serve_engine(test::RingPair& pair, Chain& chain) {
  RingError error = RingError::kNone;
  while (pair.device.next_chain(chain, error) == Fetch::kHead) pair.device.push_used(chain.head, 0);
  pair.device.flush_used();
}

struct ByHand {
  RingAreas areas;
  const GuestMemory* memory;
  DeviceRingState state;
  std::vector<UsedElem> shadow = std::vector<UsedElem>(kRingSize);
  std::vector<std::uint16_t> fetched = std::vector<std::uint16_t>(kRingSize);
  std::vector<std::uint8_t> in_flight = std::vector<std::uint8_t>(kRingSize);
};

// Direct chains only.
RingError walk_by_hand(ByHand& q, Chain& chain) {
  std::uint16_t index = chain.head;
  for (std::uint32_t seen = 0; seen < q.state.size; ++seen) {
    const volatile Desc& shared = q.areas.desc[index];
    const Desc desc{shared.addr, shared.len, shared.flags, shared.next};
    if ((desc.flags & kDescIndirect) != 0) return RingError::kIndirectNotNegotiated;
    const bool writable = (desc.flags & kDescWrite) != 0;
    if (!writable && chain.piece_count > chain.readable_count)
      return RingError::kReadableAfterWritable;
    if (desc.len > UINT32_MAX - (chain.readable_bytes + chain.writable_bytes))
      return RingError::kChainBytesOverflow;
    const auto pieces =
        q.memory->translate(GuestAddr{desc.addr}, desc.len, chain.room.subspan(chain.piece_count));
    if (!pieces.ok()) return pieces.error();
    const auto added = static_cast<std::uint32_t>(pieces.value());
    chain.piece_count += added;
    ++chain.descriptors;
    (writable ? chain.writable_bytes : chain.readable_bytes) += desc.len;
    if (!writable) chain.readable_count += added;
    if ((desc.flags & kDescNext) == 0) return RingError::kNone;
    if (desc.next >= q.state.size) return RingError::kNextOutOfRange;
    index = desc.next;
  }
  return RingError::kChainTooLong;
}

void flush_by_hand(ByHand& q) {
  const std::uint16_t count = q.state.pending_used;
  const auto first_slot = static_cast<std::uint16_t>(q.state.next_used & (q.state.size - 1));
  const auto first =
      std::min<std::uint16_t>(count, static_cast<std::uint16_t>(q.state.size - first_slot));
  std::memcpy(q.areas.used_ring() + first_slot, q.shadow.data(), first * sizeof(UsedElem));
  if (count > first)
    std::memcpy(q.areas.used_ring(), q.shadow.data() + first,
                std::size_t(count - first) * sizeof(UsedElem));
  q.state.next_used = static_cast<std::uint16_t>(q.state.next_used + count);
  store_word(q.areas.used + kRingIdxWord, q.state.next_used);
  for (std::uint16_t i = 0; i < count; ++i) q.in_flight[q.shadow[i].id] = 0;
  q.state.pending_used = 0;
}

__attribute__((noinline)) void serve_by_hand(ByHand& q, Chain& chain) {
  while (q.state.broken == RingError::kNone) {
    if (q.state.next_avail == q.state.avail_idx) {
      q.state.avail_idx = load_word(q.areas.avail + kRingIdxWord);
      if (index_distance(q.state.avail_idx, q.state.next_avail) > q.state.size)
        q.state.broken = RingError::kAvailIndexAhead;
      if (q.state.next_avail == q.state.avail_idx) break;
    }
    const auto slot = static_cast<std::uint16_t>(q.state.next_avail & (q.state.size - 1));
    const std::uint16_t head = load_word(q.areas.avail + kAvailRingWord + slot);
    if (head >= q.state.size || q.in_flight[head] != 0) {
      q.state.broken = RingError::kHeadInFlight;
      break;
    }
    q.in_flight[head] = 1;
    q.fetched[slot] = head;
    ++q.state.next_avail;
    chain.start(head);
    const RingError error = walk_by_hand(q, chain);
    if (error != RingError::kNone) q.state.broken = error;
    q.shadow[q.state.pending_used++] = {head, 0};
  }
  flush_by_hand(q);
}

int run(bool engine, int rounds) {
  test::RingPair pair(kRingSize);
  for (std::uint16_t i = 0; i < kRingSize; ++i) {
    pair.ring.desc(i) = {test::RingPair::kData + i * 64u, 64, 0, 0};
    pair.ring.avail(i) = i;
  }
  ByHand by_hand{
      .areas = pair.ring.areas, .memory = &pair.guest.memory(), .state = {.size = kRingSize}};
  std::array<Piece, kRingSize> room;
  Chain chain{.room = room};
  std::uint16_t avail = 0;
  for (int i = 0; i < rounds; ++i) {
    avail = static_cast<std::uint16_t>(avail + kBatch);
    store_word(&pair.ring.avail_idx(), avail);
    if (engine)
      serve_engine(pair, chain);
    else
      serve_by_hand(by_hand, chain);
  }
  return pair.ring.used_idx() == avail ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace vringlab

int main(int argc, char** argv) {
  if (argc != 3) return EXIT_FAILURE;
  return vringlab::run(argv[1] == std::string_view("engine"), std::atoi(argv[2]));
}
