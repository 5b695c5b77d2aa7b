// A file of the host that threads read and write, one operation each at a time, and
// block in: past the page cache, through it, or through it with each write on the disk
// before it returns.
#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/backend/blk/store.h"
#include "sim/access/operations.h"
#include "sim/host/disk.h"
#include "sim/host/page_cache.h"

namespace vringlab::sim {

enum class CacheMode : std::uint8_t { kNone, kWriteBack, kWriteThrough };

struct HostFileConfig {
  CacheMode mode = CacheMode::kNone;
  std::uint64_t capacity_bytes = 0;
  std::uint64_t cache_pages = 1;
  std::uint64_t read_ahead_pages = 32;
  std::uint64_t dirty_limit_pages = 1;       // a writer waits while there are more
  std::uint64_t dirty_background_pages = 0;  // they are written while there are more
  std::uint64_t max_request_bytes = 524288;  // of one request to the disk
};

struct HostFileCounters {
  std::uint64_t hit_pages = 0;   // read, and there already
  std::uint64_t miss_pages = 0;  // read, and waited for
};

// One operation of a thread.
struct FileOp {
  BlkOp op = BlkOp::kRead;
  std::uint64_t offset = 0;  // bytes
  std::uint64_t bytes = 0;
  // How far it is.
  enum class Stage : std::uint8_t { kBegin, kPages, kDisk, kDirty, kDone };
  Stage stage = Stage::kBegin;
  PageNumber at = 0;               // next page
  PageNumber end = 0;              // one past the last
  bool held = false;               // it waits for page `at`, which stays with it when replaced
  std::uint32_t outstanding = 0;   // requests of its own that the disk has
  std::uint64_t flush_target = 0;  // pages that have to be written before it is done
};

class HostFile {
 public:
  // `disk`: null for a RAM disk, which needs no page cache.
  HostFile(Disk* disk, const HostFileConfig& config, std::size_t threads)
      : disk_(disk),
        config_(config),
        cache_(config.cache_pages),
        ahead_(config.read_ahead_pages),
        waits_(threads) {}

  // Goes on with `op` of `thread` as far as it gets; false: the thread blocks, and
  // `take_woken` will name it.
  bool advance(Core& core, std::uint32_t thread, FileOp& op) {
    if (op.stage == FileOp::Stage::kBegin) begin(core, op);
    if (op.op == BlkOp::kFlush) return flush(core, thread, op);
    if (config_.mode == CacheMode::kNone) return direct(core, thread, op);
    return op.op == BlkOp::kRead ? read(core, thread, op) : write(core, thread, op);
  }

  // The disk has done what a client of these kinds asked for.
  void disk_done(const DiskClient& client, FileOp* op_of_thread) {
    if (client.kind == DiskClient::Kind::kThread) {
      if (--op_of_thread->outstanding == 0) woken_.push_back(client.index);
      return;
    }
    const PageRange range = give_back(client.index);
    if (client.kind == DiskClient::Kind::kReadAhead) {
      cache_.change(range, PageCache::State::kReading, PageCache::State::kClean);
      wake(Wait::kPages, range);
    } else {
      --writing_;
      written_ += range.count();
      wake(Wait::kDirty, {0, 1});
    }
  }

  // Threads that may go on; each is named once.
  bool any_woken() const { return !woken_.empty(); }
  std::uint32_t take_woken() {
    const std::uint32_t thread = woken_.back();
    woken_.pop_back();
    return thread;
  }

  // Is there something that has to be written now?
  bool wants_writing() const {
    if (dirty_.empty() || writing_ >= kMaxWriting) return false;
    return dirty() > config_.dirty_background_pages || written_ < flush_to_;
  }
  // When somebody last dirtied a page or began to wait for what is dirty.
  std::uint64_t wanted_ps() const { return wanted_ps_; }
  // Gives the disk the oldest dirty pages, as one request.
  void write_back(Core& core) {
    const PageRange range = dirty_.take(config_.max_request_bytes / kCachePageBytes);
    cache_.change(range, PageCache::State::kDirty, PageCache::State::kClean);
    core.run(operation_index(Op::kBioSubmit));
    ++writing_;
    submit_range(core, DiskRequest::Op::kWrite, range, DiskClient::Kind::kWriteBack);
  }
  // Pages dirtied and not yet on the disk.
  std::uint64_t dirty() const { return dirty_.added() - written_; }
  const HostFileCounters& counters() const { return counters_; }

 private:
  enum class Wait : std::uint8_t { kNothing, kPages, kDirty };
  static constexpr unsigned kMaxWriting = 8;  // requests that write back at once
  using Stage = FileOp::Stage;
  // What a thread sleeps for.
  struct Waiting {
    Wait what = Wait::kNothing;
    PageNumber page = 0;  // that it needs; 0 for what is no page
  };

  void begin(Core& core, FileOp& op) {
    core.run(operation_index(Op::kVfsCall));
    op.at = op.offset / kCachePageBytes;
    op.end = (op.offset + op.bytes + kCachePageBytes - 1) / kCachePageBytes;
    op.stage = Stage::kPages;
  }

  bool direct(Core& core, std::uint32_t thread, FileOp& op) {
    if (op.stage == Stage::kPages) {
      core.run_times(operation_index(Op::kPinPage), op.end - op.at);
      if (disk_ == nullptr) {
        core.run_times(operation_index(Op::kRamPage), op.end - op.at);
        return true;
      }
      submit(core, thread, op);
    }
    return op.outstanding == 0;
  }

  // The bytes of an operation, as the thread's own requests.
  void submit(Core& core, std::uint32_t thread, FileOp& op) {
    const auto what = op.op == BlkOp::kRead ? DiskRequest::Op::kRead : DiskRequest::Op::kWrite;
    for (std::uint64_t at = 0; at < op.bytes; at += config_.max_request_bytes) {
      core.run(operation_index(Op::kBioSubmit));
      disk_->submit(core.now(), {what,
                                 op.offset + at,
                                 std::min(op.bytes - at, config_.max_request_bytes),
                                 {DiskClient::Kind::kThread, thread, 0}});
      ++op.outstanding;
    }
    op.stage = Stage::kDisk;
  }

  bool read(Core& core, std::uint32_t thread, FileOp& op) {
    const PageNumber from = op.at;
    while (op.at < op.end && ready(core, op)) ahead_.meet(op.at++);
    core.run_times(operation_index(Op::kCacheReadPage), op.at - from);
    if (op.at == op.end) return true;
    ++counters_.miss_pages;
    waits_[thread] = {Wait::kPages, op.at};
    return false;
  }
  // Is the next page there? Asks for it, and for what follows, where they are not.
  bool ready(Core& core, FileOp& op) {
    const bool came = std::exchange(op.held, false);
    if (!came && cache_.state(op.at) == PageCache::State::kAbsent)
      fetch(core, ahead_.miss({op.at, op.end}));
    if (cache_.take_mark(op.at)) fetch(core, ahead_.ahead());
    const PageCache::State state = cache_.state(op.at);
    op.held = state == PageCache::State::kReading;
    // One that came and was replaced before the thread ran is still in its hands.
    const bool there = !op.held && (came || state != PageCache::State::kAbsent || beyond(op.at));
    counters_.hit_pages += there && !came ? 1 : 0;
    return there;
  }
  // The end of a file that is not whole pages is always there.
  bool beyond(PageNumber page) const { return page >= config_.capacity_bytes / kCachePageBytes; }

  // Reads what is absent of a window, up to the first page that is not, or that finds
  // another on its way into its place; and marks it.
  void fetch(Core& core, const PageRange& window) {
    PageRange missing{window.first, window.first};
    const PageNumber last = config_.capacity_bytes / kCachePageBytes;
    while (missing.end < std::min(window.end, last) &&
           cache_.state(missing.end) == PageCache::State::kAbsent &&
           !cache_.displaces_reading(missing.end)) {
      make_room(core, missing.end);
      cache_.set(missing.end++, PageCache::State::kReading);
    }
    if (missing.count() == 0) return;
    cache_.mark(missing.first);
    core.run(operation_index(Op::kBioSubmit));
    submit_range(core, DiskRequest::Op::kRead, missing, DiskClient::Kind::kReadAhead);
  }

  // A dirty page that has to give way is written; the oldest are written instead of it.
  void make_room(Core& core, PageNumber page) {
    if (cache_.displaces_dirty(page) && !dirty_.empty()) write_back(core);
  }

  bool write(Core& core, std::uint32_t thread, FileOp& op) {
    if (op.stage == Stage::kPages) {
      core.run(operation_index(Op::kCacheWriteCall));
      core.run_times(operation_index(Op::kCacheWritePage), op.end - op.at);
      if (config_.mode == CacheMode::kWriteThrough) {
        for (; op.at < op.end; ++op.at) cache_.set(op.at, PageCache::State::kClean);
        submit(core, thread, op);
      } else {
        for (; op.at < op.end; ++op.at) make_dirty(core, op.at);
        op.stage = Stage::kDirty;
      }
    }
    if (op.stage == Stage::kDisk) return op.outstanding == 0;
    if (dirty() <= config_.dirty_limit_pages) return true;
    waits_[thread] = {Wait::kDirty, 0};
    return false;
  }
  void make_dirty(Core& core, PageNumber page) {
    if (cache_.state(page) == PageCache::State::kDirty) return;
    make_room(core, page);
    cache_.set(page, PageCache::State::kDirty);
    dirty_.add(page);
    wanted_ps_ = core.now();
  }

  // What was dirty when it began is written, then the disk's own cache.
  bool flush(Core& core, std::uint32_t thread, FileOp& op) {
    if (op.stage == Stage::kPages) {
      op.flush_target = dirty_.added();
      flush_to_ = std::max(flush_to_, op.flush_target);
      wanted_ps_ = core.now();
      op.stage = Stage::kDirty;
    }
    if (disk_ == nullptr) return true;
    if (op.stage == Stage::kDirty && written_ >= op.flush_target) {
      core.run(operation_index(Op::kBioSubmit));
      disk_->submit(core.now(),
                    {DiskRequest::Op::kFlush, 0, 0, {DiskClient::Kind::kThread, thread, 0}});
      ++op.outstanding;
      op.stage = Stage::kDisk;
    }
    if (op.stage == Stage::kDisk) return op.outstanding == 0;
    waits_[thread] = {Wait::kDirty, 0};
    return false;
  }

  void submit_range(const Core& core, DiskRequest::Op op, const PageRange& range,
                    DiskClient::Kind kind) {
    disk_->submit(core.now(), {op,
                               range.first * kCachePageBytes,
                               range.count() * kCachePageBytes,
                               {kind, keep(range), 0}});
  }

  // A range that the disk works on, by a number that is free.
  std::uint32_t keep(const PageRange& range) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(ranges_.size()));
      ranges_.emplace_back();
    }
    const std::uint32_t number = free_.back();
    free_.pop_back();
    ranges_[number] = range;
    return number;
  }
  PageRange give_back(std::uint32_t number) {
    free_.push_back(number);
    return ranges_[number];
  }

  // A page that is not on its way, because another one is on its way into its place, is
  // waited for until any comes.
  bool concerns(const Waiting& waiting, const PageRange& range) const {
    const bool inside = waiting.page >= range.first && waiting.page < range.end;
    return inside || waiting.what != Wait::kPages ||
           cache_.state(waiting.page) != PageCache::State::kReading;
  }
  // Those that wait for it: for a page, only whose it is.
  void wake(Wait what, const PageRange& range) {
    for (std::size_t i = 0; i < waits_.size(); ++i) {
      const Waiting& waiting = waits_[i];
      if (waiting.what != what || !concerns(waiting, range)) continue;
      waits_[i] = {};
      woken_.push_back(static_cast<std::uint32_t>(i));
    }
  }

  Disk* disk_;
  HostFileConfig config_;
  PageCache cache_;
  ReadAhead ahead_;
  DirtyPages dirty_;
  HostFileCounters counters_;
  std::uint64_t wanted_ps_ = 0;
  unsigned writing_ = 0;        // requests that write back now
  std::uint64_t written_ = 0;   // pages written back, ever
  std::uint64_t flush_to_ = 0;  // pages that somebody waits to see written
  std::vector<Waiting> waits_;  // by thread
  std::vector<std::uint32_t> woken_;
  std::vector<PageRange> ranges_;    // that the disk works on, by number
  std::vector<std::uint32_t> free_;  // numbers
};

}  // namespace vringlab::sim
