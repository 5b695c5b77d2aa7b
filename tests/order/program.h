// Code under exploration as a tree. What a half of the ring does next depends
// on nothing but the values that it has loaded so far; so each distinct history of
// loads is run once, from the start, through the real code, up to the next
// access that is not yet answered. The search then walks the tree: no fibers, no threads.
// Where the code says that all it remembers is a digest, histories with equal digests are one.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/order/weak_memory.h"

namespace vringlab::order {

enum class Action : std::uint8_t {
  kLoad,
  kFence,
  kRing,
  kAwait,
  kEnd,
  kFail,
  kStore,
  kSeal,
  kSame
};

struct Operation {
  Action action = Action::kEnd;
  Location at = 0;                     // kLoad, kStore, kSeal
  Word value = {};                     // kStore
  OrderKind fence = OrderKind::kFull;  // kFence
  std::string text = {};               // kFail: what the code found wrong; kSame: the digest
};

// Runs `code` against recorded answers. The accesses of the halves call it.
class Tape {
 public:
  explicit Tape(const std::vector<Word>& answers) : answers_(answers) {}

  Word load(Location at) { return ask({.action = Action::kLoad, .at = at}); }
  void store(Location at, const Word& value) {
    note({.action = Action::kStore, .at = at, .value = value});
  }
  // Promises that nothing more is stored there.
  void seal(Location at) { note({.action = Action::kSeal, .at = at}); }
  // Promises that what the code does from here on depends on `digest` alone.
  void same(std::string digest) { note({.action = Action::kSame, .text = std::move(digest)}); }
  // A full fence meets the other half's; the other kinds act on their thread alone.
  void fence(OrderKind kind) {
    if (kind == OrderKind::kFull) {
      ask({.action = Action::kFence, .fence = kind});
    } else {
      note({.action = Action::kFence, .fence = kind});
    }
  }
  void ring() { ask({.action = Action::kRing}); }    // wakes the other half
  void await() { ask({.action = Action::kAwait}); }  // sleeps until rung
  [[noreturn]] void fail(std::string text) {
    note({.action = Action::kFail, .text = std::move(text)});
    throw Suspended{};
  }
  void expect(bool holds, const char* text) {
    if (!holds) fail(text);
  }

  // The operations after the last answer; the last of them wants an answer or ends.
  std::vector<Operation> run(const std::function<void(Tape&)>& code) {
    try {
      code(*this);
      note({.action = Action::kEnd});
    } catch (const Suspended&) {
    }
    return std::move(operations_);
  }

 private:
  struct Suspended {};

  void note(Operation operation) {
    if (next_ == answers_.size()) operations_.push_back(std::move(operation));
  }
  Word ask(Operation operation) {
    if (next_ < answers_.size()) return answers_[next_++];
    note(std::move(operation));
    throw Suspended{};
  }

  const std::vector<Word>& answers_;
  std::size_t next_ = 0;  // answer to give next
  std::vector<Operation> operations_;
};

struct Node;

// How to get to a node: stores and fences that need no turn of their own.
struct Edge {
  std::vector<Operation> operations;
  Node* to = nullptr;
};

// A point where the scheduler decides about `turn`.
struct Node {
  std::uint32_t id = 0;       // unique in its program
  std::vector<Word> answers;  // one history that leads here
  Operation turn;
  std::map<Word, Edge> next = {};
};

class Program {
 public:
  explicit Program(std::function<void(Tape&)> code) : code_(std::move(code)) {}

  Edge start() { return make({}); }
  const Edge& after(Node& node, const Word& answer) {
    Edge& edge = node.next[answer];
    if (edge.to == nullptr) {
      std::vector<Word> answers = node.answers;
      answers.push_back(answer);
      edge = make(std::move(answers));
    }
    return edge;
  }
  std::size_t runs() const { return runs_; }

 private:
  Edge make(std::vector<Word> answers) {
    ++runs_;
    Edge edge{.operations = Tape(answers).run(code_)};
    Operation turn = std::move(edge.operations.back());
    edge.operations.pop_back();
    const auto last = std::ranges::find(edge.operations.rbegin(), edge.operations.rend(),
                                        Action::kSame, &Operation::action);
    if (last != edge.operations.rend()) {
      Node*& named = named_[last->text];
      if (named == nullptr) named = add(std::move(answers), std::move(turn));
      edge.to = named;
    } else {
      edge.to = add(std::move(answers), std::move(turn));
    }
    std::erase_if(edge.operations, [](const Operation& o) { return o.action == Action::kSame; });
    return edge;
  }

  Node* add(std::vector<Word> answers, Operation turn) {
    const auto id = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({.id = id, .answers = std::move(answers), .turn = std::move(turn)});
    return &nodes_.back();
  }

  std::function<void(Tape&)> code_;
  std::deque<Node> nodes_;
  std::map<std::string, Node*> named_;  // nodes after a digest
  std::size_t runs_ = 0;
};

}  // namespace vringlab::order
