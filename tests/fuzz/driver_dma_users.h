// Who uses the ring in the fuzzer driver_dma, behind one interface.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "core/driver/net_receive.h"
#include "core/driver/xsk_rx.h"
#include "core/driver/xsk_tx.h"
#include "tests/double/resizable_queue.h"
#include "tests/double/xsk_app.h"
#include "tests/fuzz/input.h"

namespace vringlab::test {

using FuzzRing = DriverRing<DirectDriverAccess, CountingDma>;

// Where buffers lie.
inline constexpr std::uint64_t kFuzzData = 2 * TwoRings::kHalf;
inline constexpr std::uint32_t kFuzzDataBytes = 0x4000;
inline constexpr std::uint64_t kFuzzHeader = kFuzzData + kFuzzDataBytes;  // zeros

struct RingUser {
  virtual ~RingUser() = default;
  virtual void step(std::uint8_t how) = 0;
  virtual void recycle(Token token) = 0;
  virtual void restart() {}
  virtual void check() = 0;  // with what the ring says
  virtual void end() = 0;    // the ring is empty
};

// Adds chains and reaps them: buffers are mapped by the ring, unless it is premapped.
class ChainUser : public RingUser {
 public:
  ChainUser(FuzzRing& ring, CountingDma& dma) : ring_(ring), dma_(dma) {}

  // 255: reap; else the low nibble readable, the high one writable.
  void step(std::uint8_t how) override {
    if (how == 255) return reap();
    std::array<Buffer, 32> buffers;
    for (std::uint32_t i = 0; i < buffers.size(); ++i) buffers[i] = {{kFuzzData + 64 * i}, i};
    const std::size_t readable = how & 15;
    const std::size_t writable = how >> 4;
    const std::span all(buffers);
    const auto head = ring_.add(all.first(readable), all.subspan(readable, writable), next_token_);
    if (!head.ok()) return;
    const std::size_t count = readable + writable;
    const bool table = ring_.state().indirect && count > 1 && count <= TwoRings::kTableEntries;
    Owed owed{table ? 1 : count, table ? std::size_t{1} : 0, 0};
    if (!ring_.state().premapped) owed.mappings += count;
    for (std::size_t i = readable; i < count; ++i) owed.capacity += buffers[i].len;
    owed_[next_token_++] = owed;
    ring_.publish();
    ring_.kick_needed();
  }
  void recycle(Token token) override {
    require(owed_.erase(token) == 1, "a token comes back once");
  }
  void check() override {
    Owed sum;
    for (const auto& [token, owed] : owed_) {
      sum.descriptors += owed.descriptors;
      sum.mappings += owed.mappings;
    }
    require(sum.descriptors + ring_.state().free_count == ring_.state().size,
            "each descriptor is free or in flight");
    require(sum.mappings == dma_.mapped(), "what is mapped follows from what is in flight");
  }
  void end() override { require(owed_.empty(), "every token comes back"); }

 private:
  struct Owed {
    std::size_t descriptors = 0;
    std::size_t mappings = 0;
    std::uint64_t capacity = 0;
  };

  void reap() {
    while (const auto done = ring_.reap()) {
      const auto owed = owed_.find(done->token);
      require(owed != owed_.end(), "a token comes back once");
      require(done->written_bytes <= owed->second.capacity, "no more than there was room for");
      owed_.erase(owed);
    }
  }

  FuzzRing& ring_;
  CountingDma& dma_;
  std::map<Token, Owed> owed_;
  Token next_token_ = 1;
};

// The receive loop, and a stack that keeps the pieces of up to four packets.
template <class Mapping>
class ReceiveUser : public RingUser {
 public:
  using Buffers = RxBuffers<Mapping>;

  ReceiveUser(FuzzRing& ring, CountingDma& dma, const std::byte* host)
      : ring_(ring),
        buffers_(dma, {{kFuzzData}, 8, kFuzzDataBytes / 8, {12, 244, 512}}),
        stack_{buffers_, {}, {}},
        receive_(ring, buffers_, host, stack_) {}

  void step(std::uint8_t how) override { receive_.poll(how % 16); }
  void recycle(Token token) override { receive_.recycle(token); }
  void check() override {
    require(buffers_.state().at_device == ring_.state().in_flight, "each buffer is somewhere");
    require(buffers_.state().held == stack_.pieces, "and each piece with the stack");
  }
  void end() override {
    while (!stack_.held.empty()) stack_.drop();
    buffers_.retire();
    require(buffers_.idle() == 8, "all memory comes back");
  }

 private:
  struct Stack {
    Buffers& buffers;
    std::deque<std::vector<RxPiece>> held;
    std::size_t pieces = 0;

    void packet(const VirtioNetHdr&, std::span<const RxPiece> packet) {
      for (const RxPiece& piece : packet) {
        require(piece.addr.value >= kFuzzData &&
                    piece.addr.value + piece.len <= kFuzzData + kFuzzDataBytes,
                "a piece lies in the fragments");
        require(piece.len <= buffers.length(piece.token), "and in its buffer");
      }
      pieces += packet.size();
      held.emplace_back(packet.begin(), packet.end());
      if (held.size() > 4) drop();
    }
    void drop() {
      pieces -= held.front().size();
      for (const RxPiece& piece : held.front()) buffers.release(piece.token);
      held.pop_front();
    }
  };

  FuzzRing& ring_;
  Buffers buffers_;
  Stack stack_;
  NetReceive<FuzzRing, Buffers, Stack> receive_;
};

inline constexpr XskUmemConfig kFuzzUmem{{kFuzzData}, nullptr, 8, 2048};

class XskTxUser : public RingUser {
 public:
  XskTxUser(FuzzRing& ring, CountingDma& dma, std::byte* host, XskApp& app, XskHeader header)
      : ring_(ring),
        umem_(dma, with_host(host)),
        xsk_(ring, umem_, app.tx.areas(), app.completion.areas(), {header, {kFuzzHeader}}) {
    require(umem_.map() == RingError::kNone && xsk_.start() == RingError::kNone, "maps");
  }
  static XskUmemConfig with_host(std::byte* host) {
    XskUmemConfig config = kFuzzUmem;
    config.host = host;
    return config;
  }

  void step(std::uint8_t how) override {
    const std::uint32_t budget = how % 16u;
    const XskTxStep step = xsk_.step(budget);
    require(step.sent + step.invalid <= budget, "the budget holds");
  }
  void recycle(Token token) override { xsk_.recycle(token); }
  void check() override {
    require(xsk_.state().in_flight == ring_.state().in_flight, "each frame is somewhere");
  }
  void end() override {
    xsk_.stop();
    umem_.unmap();
  }

 private:
  FuzzRing& ring_;
  XskUmem<CountingDma> umem_;
  XskTx<FuzzRing, CountingDma> xsk_;
};

class XskRxUser : public RingUser {
 public:
  XskRxUser(FuzzRing& ring, CountingDma& dma, std::byte* host, XskApp& app, std::uint32_t max_ring)
      : ring_(ring),
        app_(app),
        max_ring_(max_ring),
        umem_(dma, XskTxUser::with_host(host)),
        xsk_(ring, umem_, app.fill.areas(), app.rx.areas(), max_ring) {
    require(umem_.map() == RingError::kNone, "maps");
  }

  void step(std::uint8_t how) override {
    const std::uint32_t budget = how % 16u;
    const XskRxStep step = xsk_.step(budget);
    require(step.received + step.dropped <= budget, "the budget holds");
    for (std::uint32_t i = 0; i < step.received; ++i)
      require(umem_.is_frame(app_.rx.at(received_++)), "a frame lies in its chunk");
  }
  void recycle(Token token) override { xsk_.recycle(token); }
  void restart() override { xsk_.restart(); }
  void check() override {
    require(xsk_.spare() + ring_.state().in_flight <= max_ring_, "no more than the ring is long");
  }
  void end() override { umem_.unmap(); }

 private:
  FuzzRing& ring_;
  XskApp& app_;
  std::uint32_t max_ring_;
  std::uint32_t received_ = 0;  // the next entry of the rx ring
  XskUmem<CountingDma> umem_;
  XskRx<FuzzRing, CountingDma> xsk_;
};

}  // namespace vringlab::test
