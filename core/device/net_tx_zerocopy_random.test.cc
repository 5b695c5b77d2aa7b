// The zero-copy loop against a model of a few lines: thousands of random steps of driver,
// worker and sink. The model knows which frames must be lent, which chains can be back
// and in which order; after each step the engine must agree.
#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <set>

#include "tests/double/zerocopy_rig.h"

namespace vringlab {
namespace {

using test::kEventIdx;
using test::kIndirect;
using test::TakenFrame;
using test::ZeroCopyRig;

constexpr std::uint32_t kMinBytes = 100;
constexpr std::uint32_t kMaxPending = 6;
constexpr std::uint64_t kData = 0x8000;       // a buffer of kStride a head
constexpr std::uint64_t kStride = 0x400;      // frames end before kTable
constexpr std::uint64_t kTable = 0x3e0;       // an indirect table of two entries behind it
constexpr std::uint32_t kLongestFrame = 800;  // header and frame fit

enum class Kind : std::uint8_t { kOnePiece, kTwoPieces, kWritable, kTooShort, kBadHeader, kCount };

struct Offer {
  std::uint16_t head;
  Kind kind;
  std::uint32_t frame_bytes;
  std::uint32_t number;  // in the first bytes of the frame

  bool good() const { return kind == Kind::kOnePiece || kind == Kind::kTwoPieces; }
};

// A chain taken and not given back.
struct Taken {
  Offer offer;
  bool done;
  std::uint16_t slot;  // if not done
};

class RandomRun {
 public:
  RandomRun(std::uint32_t seed, std::uint16_t size, std::uint64_t features)
      : random_(seed),
        // Some seeds have a sink that copies a lot after all: hardly anything is lent to it.
        copied_after_all_(seed % 3 == 0 ? 4 : 400),
        rig_(size,
             {.zerocopy_min_bytes = kMinBytes,
              .zerocopy_max_pending = kMaxPending,
              .weight = {.packets = 40}},
             features),
        limit_(std::min<std::size_t>(kMaxPending, size / 4u)) {
    for (std::uint16_t head = 0; head < size; ++head) free_.insert(head);
    rig_.ring.avail_idx() = rig_.ring.used_idx() = reaped_;
    rig_.tx.ring().start(reaped_);
  }

  void run(int steps) {
    for (; steps > 0 && !testing::Test::HasFatalFailure(); --steps) one();
    drain();
  }

  std::uint64_t borrowed() { return rig_.tx.counters().borrowed; }
  std::uint64_t packets() { return rig_.tx.counters().packets; }
  std::uint32_t resets() const { return resets_; }

 private:
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }

  void one() {
    const std::uint32_t dice = below(1000);
    if (dice < 350) return offer();
    if (dice < 700) return step();
    if (dice < 900) return complete();
    if (dice < 960) return reap();
    if (dice < 980) return change_sink();
    if (dice < 985) return finish();
    if (dice < 998) return arm();
    reset();
  }

  // The driver offers a chain of any kind, if it has a free head.
  void offer() {
    if (free_.empty()) return reap();
    auto it = free_.begin();
    std::advance(it, below(static_cast<std::uint32_t>(free_.size())));
    Offer offer{*it, Kind::kOnePiece, 14 + below(2) * 100 + below(kLongestFrame - 114), ++number_};
    if (below(5) == 0)
      offer.kind = static_cast<Kind>(below(static_cast<std::uint32_t>(Kind::kCount)));
    free_.erase(it);
    write_chain(offer);
    rig_.ring.offer(offer.head);
    offered_.push_back(offer);
  }

  void write_chain(const Offer& offer) {
    const std::uint64_t addr = kData + kStride * offer.head;
    const std::uint32_t bytes = offer.kind == Kind::kTooShort ? 25 : 12 + offer.frame_bytes;
    VirtioNetHdr header;
    if (offer.kind == Kind::kBadHeader) header.gso_type = kNetHdrGsoTcp4;  // segments of no bytes
    rig_.guest.write(addr, header);
    rig_.guest.write(addr + 12, offer.number);
    Desc& desc = rig_.ring.desc(offer.head);
    desc = {addr, bytes, offer.kind == Kind::kWritable ? kDescWrite : std::uint16_t{0}, 0};
    if (offer.kind != Kind::kTwoPieces) return;
    const std::uint32_t cut = 1 + below(bytes - 1);
    const Desc table[] = {{addr, cut, kDescNext, 1}, {addr + cut, bytes - cut, 0, 0}};
    rig_.guest.write_table(addr + kTable, table);
    desc = {addr + kTable, sizeof(table), kDescIndirect, 0};
  }

  void step() {
    give_back();
    const std::uint64_t frames = rig_.sink.frames.size();
    const std::uint64_t refused = rig_.tx.counters().refused;
    const Turn turn = rig_.tx.step();
    if (!offered_.empty()) take(frames, refused);
    ASSERT_NE(turn, Turn::kBroken);
    if (turn != Turn::kPacket) give_back();
    agree();
  }

  // The chain at the head of the queue was lent, copied, refused or put back.
  void take(std::uint64_t frames, std::uint64_t refused) {
    const Offer offer = offered_.front();
    const bool lends = offer.frame_bytes >= kMinBytes && lent() < limit_ && record_.pays();
    const RingError answer =
        lends && offer.good() ? rig_.sink.borrowed_error : rig_.sink.alone_error;
    // A bad header is the sink's to find if it copies; out of room it does not look.
    const bool reaches = offer.good() || (offer.kind == Kind::kBadHeader && !lends);
    if (reaches && answer == RingError::kNoBuffer) {
      ASSERT_EQ(rig_.sink.frames.size(), frames);
      ASSERT_EQ(rig_.tx.counters().last_error, RingError::kNoBuffer);
      return;
    }
    offered_.pop_front();
    const bool sent = offer.good() && answer == RingError::kNone;
    ASSERT_EQ(rig_.sink.frames.size(), frames + (sent ? 1 : 0));
    ASSERT_EQ(rig_.tx.counters().refused, refused + (sent ? 0 : 1));
    taken_.push_back({offer, true, 0});
    if (!sent) return;
    const TakenFrame& frame = rig_.sink.frames.back();
    ASSERT_EQ(frame.borrowed, lends);
    ASSERT_EQ(frame.bytes.size(), offer.frame_bytes);
    ASSERT_EQ(number_of(frame.bytes), offer.number);
    taken_.back() = {offer, !lends, frame.slot};
    record_.count_packet();
  }

  static std::uint32_t number_of(const std::vector<std::byte>& frame) {
    std::uint32_t number = 0;
    std::memcpy(&number, frame.data(), sizeof(number));
    return number;
  }

  // Any of the frames lent. Given back too early, its buffer would have been rewritten.
  void complete() {
    std::vector<Taken*> choice;
    for (Taken& taken : taken_)
      if (!taken.done) choice.push_back(&taken);
    if (choice.empty()) return;
    Taken& taken = *choice[below(static_cast<std::uint32_t>(choice.size()))];
    const auto frame =
        std::find_if(rig_.sink.frames.rbegin(), rig_.sink.frames.rend(), [&](const TakenFrame& f) {
          return f.borrowed && number_of(f.bytes) == taken.offer.number;
        });
    ASSERT_EQ(frame->read(), frame->bytes);
    const bool copied = below(copied_after_all_) == 0;
    rig_.tx.complete(taken.slot, copied);
    taken.done = true;
    if (copied) record_.count_failure();
    agree();
  }

  // What a turn before its fetch, or the end of a run, gives back.
  void give_back() {
    for (; !taken_.empty() && taken_.front().done; taken_.pop_front())
      back_.push_back(taken_.front().offer.head);
  }

  void agree() {
    ASSERT_EQ(rig_.tx.pending(), lent());
    ASSERT_LE(lent(), limit_);
    ASSERT_EQ(rig_.tx.finished(), !taken_.empty() && taken_.front().done);
    ASSERT_EQ(rig_.ring.used_idx(), static_cast<std::uint16_t>(reaped_ + back_.size()));
  }

  // The driver takes its heads back: those that the model has back, in its order.
  void reap() {
    for (; !back_.empty(); back_.pop_front(), ++reaped_) {
      ASSERT_EQ(rig_.ring.used(reaped_ & rig_.ring.areas.mask()), (UsedElem{back_.front(), 0}));
      ASSERT_TRUE(free_.insert(back_.front()).second);
    }
  }

  void change_sink() {
    constexpr RingError kAnswers[] = {RingError::kNone, RingError::kNone, RingError::kNone,
                                      RingError::kNoBuffer, RingError::kFrameTooLong};
    rig_.sink.alone_error = kAnswers[below(5)];
    rig_.sink.borrowed_error = kAnswers[below(5)];
  }

  void finish() {
    rig_.tx.finish();
    give_back();
    agree();
  }

  void arm() {
    const bool work = rig_.tx.finished() || rig_.tx.ring().more_available();
    ASSERT_EQ(rig_.tx.arm(), work);
  }

  // The queue starts anew where the guest's rings stand; what it had is free.
  void reset() {
    const bool idle = lent() == 0;
    ASSERT_EQ(rig_.tx.reset(), idle);
    if (!idle) return agree();
    reap();
    for (const Taken& taken : taken_) free_.insert(taken.offer.head);
    for (const Offer& offer : offered_) free_.insert(offer.head);
    taken_.clear();
    offered_.clear();
    record_ = {};
    ++resets_;
    rig_.tx.ring().start(rig_.ring.avail_idx());
    agree();
  }

  // With a willing sink everything offered comes back.
  void drain() {
    rig_.sink.alone_error = rig_.sink.borrowed_error = RingError::kNone;
    while (!testing::Test::HasFatalFailure() && (!offered_.empty() || !taken_.empty())) {
      step();
      complete();
    }
    reap();
    EXPECT_EQ(free_.size(), rig_.ring.areas.size);
    EXPECT_TRUE(rig_.tx.reset());
  }

  std::size_t lent() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(taken_, [](const Taken& taken) { return !taken.done; }));
  }

  std::mt19937 random_;
  std::uint32_t copied_after_all_;  // one frame in so many
  ZeroCopyRig rig_;
  std::size_t limit_;               // frames lent at once
  std::set<std::uint16_t> free_;    // heads the driver may offer
  std::deque<Offer> offered_;       // available, not taken
  std::deque<Taken> taken_;         // not given back
  std::deque<std::uint16_t> back_;  // given back, not reaped
  std::uint16_t reaped_ = 0xff00;   // the driver's used index: it wraps soon
  std::uint32_t number_ = 0;        // of the last chain offered
  std::uint32_t resets_ = 0;
  ZeroCopyRecord record_;
};

struct RandomCase {
  std::uint16_t size;
  std::uint64_t features;
};

class ZeroCopyRandom : public testing::TestWithParam<RandomCase> {};

TEST_P(ZeroCopyRandom, agrees_with_the_model) {
  std::uint64_t borrowed = 0, packets = 0;
  std::uint32_t resets = 0;
  for (std::uint32_t seed = 0; seed < 6 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    RandomRun run(seed, GetParam().size, GetParam().features | kIndirect);
    run.run(20000);
    borrowed += run.borrowed();
    packets += run.packets();
    resets += run.resets();
  }
  // Both ways are taken often, and the ring wraps many times.
  EXPECT_GT(packets, 20u * GetParam().size);
  EXPECT_GT(borrowed, GetParam().size / 4 == 0 ? 0u : packets / 20);
  EXPECT_LT(borrowed, packets * 19 / 20);
  EXPECT_GT(resets, 10u);
}

INSTANTIATE_TEST_SUITE_P(Tx, ZeroCopyRandom,
                         testing::Values(RandomCase{4, 0}, RandomCase{8, kEventIdx},
                                         RandomCase{16, 0}, RandomCase{32, kEventIdx},
                                         RandomCase{64, 0}),
                         [](const auto& row) {
                           return "size" + std::to_string(row.param.size) +
                                  (row.param.features != 0 ? "_event" : "_flags");
                         });

}  // namespace
}  // namespace vringlab
