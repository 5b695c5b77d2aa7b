#include "sim/run/blk_scenario.h"

#include <algorithm>

#include "core/spec/split.h"
#include "sim/run/blk_machine.h"
#include "sim/run/checks.h"

namespace vringlab::sim {
namespace {

constexpr std::uint64_t kSector = 512;
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kMaxDataBytes = std::uint64_t{4} << 30;
constexpr std::uint64_t kMaxBufferBytes = std::uint64_t{1} << 30;

template <class T>
void multiple_of(const char* field, T value, std::uint64_t unit) {
  if (value == 0 || value % unit != 0)
    refuse(field, value, "a multiple of " + std::to_string(unit));
}

void check_form(const BlkScenario& b) {
  one_of("blk.form", b.form, {"vhost-2010", "vhost-bio", "vmm", "host"});
  find_disk(b.disk);
  one_of("blk.cache", b.cache, {"none", "writeback", "writethrough"});
  one_of("blk.engine", b.engine, {"threads", "aio", "io_uring"});
  one_of("blk.kick", b.kick, {"ioeventfd", "exit"});
  one_of("blk.interrupt", b.interrupt, {"irqfd", "ioctl"});
  in_range<std::uint32_t>("blk.pool_threads", b.pool_threads, 1, 256);
  if (b.sector_shift != 8 && b.sector_shift != 9)
    refuse("blk.sector_shift", b.sector_shift, "8 or 9");
}

// What a form does not have.
void check_form_uses(const BlkScenario& b) {
  const bool files = b.form == "vhost-2010" || (b.form == "vmm" && b.engine == "threads");
  if (b.cache != "none" && !files)
    refuse("blk.cache", "\"" + b.cache + "\"",
           "none unless form is vhost-2010, or vmm with engine threads");
  if (b.form == "vhost-2010" && b.cache == "none")
    refuse("blk.cache", "\"none\"", "writeback or writethrough where form is vhost-2010");
  if (b.cache != "none" && find_disk(b.disk).depth == 0)
    refuse("blk.cache", "\"" + b.cache + "\"", "none where the disk is ram");
  if (b.form == "host" && b.sector_shift != 9)
    refuse("blk.sector_shift", b.sector_shift, "9 where form is host");
}

void check_jobs(const Scenario& s) {
  const BlkScenario& b = s.blk;
  one_of("blk.operation", b.operation, {"read", "write", "mixed", "write-read"});
  one_of("blk.pattern", b.pattern, {"random", "sequential"});
  in_range("blk.read_share", b.read_share, 0.0, 1.0);
  in_range<std::uint64_t>("blk.block_bytes", b.block_bytes, kSector, 64u << 20);
  multiple_of("blk.block_bytes", b.block_bytes, kSector);
  in_range<std::uint32_t>("blk.jobs", b.jobs, 1, 64);
  in_range<std::uint32_t>("blk.queue_depth", b.queue_depth, 1, 4096);
  in_range<std::uint64_t>("blk.disk_bytes", b.disk_bytes, b.block_bytes * b.jobs,
                          std::uint64_t{1} << 50);
  multiple_of("blk.disk_bytes", b.disk_bytes, kSector);
  if (b.data && b.disk_bytes > kMaxDataBytes)
    refuse("blk.disk_bytes", b.disk_bytes, "at most 4 GiB where data is moved");
  const std::uint64_t pages = (b.block_bytes + kPage - 1) / kPage + 1;
  if (pages * kPage * b.jobs * b.queue_depth > kMaxBufferBytes + kMaxBufferBytes / 2)
    refuse("blk.queue_depth", b.queue_depth, "such that all blocks in flight are at most 1 GiB");
  if (b.operation == "write-read" && s.packets < 2 * std::uint64_t{b.jobs} * b.queue_depth)
    refuse("packets", s.packets,
           "at least twice what is under way at once where blk.operation is write-read");
  if (b.operation == "write-read" && s.packets < 2 * std::uint64_t{b.jobs})
    refuse("packets", s.packets, "at least two a job where blk.operation is write-read");
}

void check_layers(const Scenario& s) {
  const BlkScenario& b = s.blk;
  in_range<std::uint32_t>("blk.segment_bytes", b.segment_bytes, kSector, 1u << 20);
  multiple_of("blk.segment_bytes", b.segment_bytes, kSector);
  in_range<std::uint32_t>("blk.max_segments", b.max_segments, 1, 1022);
  in_range<std::uint64_t>("blk.request_bytes", b.request_bytes, kSector, 64u << 20);
  multiple_of("blk.request_bytes", b.request_bytes, kSector);
  in_range<std::uint32_t>("blk.queues", b.queues, 1, s.vcpus);
  if (s.workers > b.queues)
    refuse("workers", s.workers, "at most blk.queues where workload is blk");
  if (b.form != "host" && b.max_segments + 2 > s.ring_size)
    refuse("blk.max_segments", b.max_segments, "at most ring_size less 2");
  if (s.plan.used_element == UsedElement::kTwoWords && b.form == "vmm")
    refuse("plan.used_element", "\"two_words\"", "block where blk.form is vmm");
}

// What is under way at once; sizes have been checked.
void check_room(const Scenario& s) {
  const BlkScenario& b = s.blk;
  // A token has 16 bits for the requests of an I/O.
  constexpr std::uint64_t kMaxRequests = 65536;
  const std::uint64_t requests = requests_of_io(b);
  if (requests > kMaxRequests)
    refuse("blk.request_bytes", b.request_bytes, "such that an I/O is at most 65536 requests");
  constexpr std::uint64_t kMaxPieces = std::uint64_t{1} << 24;
  const std::uint64_t in_flight =
      std::min<std::uint64_t>(s.ring_size, b.jobs * b.queue_depth * requests);
  if (b.form != "host" && in_flight * s.ring_size * b.queues > kMaxPieces)
    refuse("ring_size", s.ring_size,
           "such that it, its queues and the requests at once are at most 2^24 together");
}

void check_cache(const BlkScenario& b) {
  in_range<std::uint64_t>("blk.read_ahead_bytes", b.read_ahead_bytes, 0, 64u << 20);
  in_range<std::uint64_t>("blk.cache_bytes", b.cache_bytes, 1u << 20, std::uint64_t{1} << 34);
  in_range("blk.dirty_share", b.dirty_share, 0.0, 0.9);
  in_range("blk.background_share", b.background_share, 0.0, b.dirty_share);
  if (b.cache == "none") return;
  multiple_of("blk.cache_bytes", b.cache_bytes, kPage);
  // With the faulty shift places are half as far apart.
  multiple_of("blk.block_bytes", b.block_bytes, b.sector_shift == 8 ? 2 * kPage : kPage);
  const std::uint64_t request =
      std::min<std::uint64_t>(b.request_bytes, std::uint64_t{b.segment_bytes} * b.max_segments);
  const std::uint64_t room = b.cache_bytes / 4;
  if (request > room)
    refuse("blk.request_bytes", b.request_bytes, "at most a quarter of cache_bytes");
  if (b.read_ahead_bytes > room)
    refuse("blk.read_ahead_bytes", b.read_ahead_bytes, "at most a quarter of cache_bytes");
  if (b.sector_shift == 8 && request < b.block_bytes && request % (2 * kPage) != 0)
    refuse("blk.request_bytes", b.request_bytes, "pairs of pages where blk.sector_shift is 8");
  if (request % kPage != 0) refuse("blk.request_bytes", b.request_bytes, "whole pages");
}

}  // namespace

void check_blk(const Scenario& s) {
  if (s.workload != "blk") {
    if (s.blk != BlkScenario{})
      refuse("blk", "changed", "as it is by default unless workload is blk");
    return;
  }
  check_form(s.blk);
  check_jobs(s);
  check_form_uses(s.blk);
  check_layers(s);
  check_room(s);
  check_cache(s.blk);
  if (s.queue_pairs != 1) refuse("queue_pairs", s.queue_pairs, "1 where workload is blk");
  if (s.offered_pps != 0) refuse("offered_pps", s.offered_pps, "0 where workload is blk");
}

}  // namespace vringlab::sim
