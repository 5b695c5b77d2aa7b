// The queues of one device: which take part, and which were kicked since they
// were last looked at. Both queue numbers and kicks come from the guest.
#pragma once

#include <cstddef>
#include <vector>

namespace vringlab {

class QueueSet {
 public:
  explicit QueueSet(std::size_t count) : queues_(count) {}

  // From now on the queue takes part. What the driver published before anybody
  // listened raised no kick that was heard, so this counts as one.
  void enable(int queue) {
    if (valid(queue)) at(queue) = {.ready = true, .kicked = true};
  }
  void disable(int queue) {
    if (valid(queue)) at(queue) = {};
  }

  // A kick of a queue that is not there or not ready means nothing.
  void kick(int queue) {
    if (ready(queue)) at(queue).kicked = true;
  }

  // Must the queue be looked at? Asked once a kick.
  bool take_kick(int queue) {
    if (!ready(queue) || !at(queue).kicked) return false;
    at(queue).kicked = false;
    return true;
  }

  bool ready(int queue) const {
    return valid(queue) && queues_[static_cast<std::size_t>(queue)].ready;
  }

 private:
  struct Queue {
    bool ready = false;   // set up and enabled
    bool kicked = false;  // kicked since the last take_kick
  };

  bool valid(int queue) const {
    return queue >= 0 && static_cast<std::size_t>(queue) < queues_.size();
  }
  Queue& at(int queue) { return queues_[static_cast<std::size_t>(queue)]; }

  std::vector<Queue> queues_;
};

}  // namespace vringlab
