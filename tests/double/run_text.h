// Every field of a result as lines of text, so that two results compare with a
// diff that a reader understands.
#pragma once

#include <sstream>
#include <string>

#include "sim/run/result.h"

namespace vringlab::test {

inline void put_core(std::ostream& out, const sim::CoreResult& core) {
  out << core.name << " busy_ps " << core.busy_ps << '\n';
  out << core.name << " idle_ps " << core.idle_ps << '\n';
  for (const sim::LedgerRow& row : core.ledger)
    out << core.name << ' ' << name(row.step) << ' ' << name(row.cost) << ' ' << row.ps << " ps "
        << row.count << " times\n";
}

inline std::string text_of(const sim::RunResult& r) {
  std::ostringstream out;
  out << "packets " << r.packets << "\nbytes " << r.bytes << "\nrefused " << r.refused
      << "\ndropped " << r.dropped << "\nelapsed_ps " << r.elapsed_ps << "\nbatches " << r.batches
      << "\nalone " << r.alone << "\nkicks " << r.kicks << "\ncalls " << r.calls << "\nwakeups "
      << r.wakeups << "\ninline_packets " << r.inline_packets << "\ninterrupts " << r.interrupts
      << "\ninvalidations " << r.invalidations << "\npinned_bytes " << r.pinned_bytes
      << "\nsetup_ps " << r.setup_ps << "\nteardown_ps " << r.teardown_ps << "\nguest_memory_hash "
      << r.guest_memory_hash << "\nlatency " << r.latency.mean_ps << ' ' << r.latency.p50_ps << ' '
      << r.latency.p90_ps << ' ' << r.latency.p99_ps << ' ' << r.latency.max_ps << '\n';
  const sim::BlkResult& b = r.blk;
  out << "blk " << b.requests << ' ' << b.failed << ' ' << b.merged << ' ' << b.disk_requests << ' '
      << b.disk_merged << ' ' << b.disk_read_bytes << ' ' << b.disk_write_bytes << ' '
      << b.disk_busy_ps << ' ' << b.cache_hit_pages << ' ' << b.cache_miss_pages << ' '
      << b.guest_system_ps << ' ' << b.wrong_bytes << ' ' << b.data_hash << '\n';
  out << "rate_pps " << std::hexfloat << r.rate_pps << std::defaultfloat << '\n';
  for (const sim::CoreResult& core : r.cores) put_core(out, core);
  return out.str();
}

}  // namespace vringlab::test
