// The kernel's thread that writes dirty pages of a file back.
#pragma once

#include "sim/host/host_file.h"
#include "sim/host/sleeper.h"

namespace vringlab::sim {

class Flusher {
 public:
  Flusher(Core& core, Signals& signals, HostFile& file)
      : core_(&core), sleeper_(core, signals), file_(&file) {}

  const Core& core() const { return *core_; }
  bool runnable() const { return sleeper_.awake(); }
  // There may be something to write since `at_ps`, or since somebody wanted it within the
  // step that began then.
  void wake(std::uint64_t at_ps) {
    if (file_->wants_writing()) sleeper_.wake(std::max(at_ps, file_->wanted_ps()), Op::kScheduleIn);
  }
  void step() {
    if (!file_->wants_writing()) return sleeper_.sleep();
    file_->write_back(*core_);
  }

 private:
  Core* core_;
  Sleeper sleeper_;
  HostFile* file_;
};

}  // namespace vringlab::sim
