#include "sim/cost/model.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include "sim/cost/rows.h"

namespace vringlab::sim {
namespace {

constexpr double kPicosecondsPerNanosecond = 1000;
constexpr double kPicosecondsPerMicrosecond = 1e6;
constexpr double kMaxPicoseconds = 1e15;        // a quarter of an hour; sums of them fit 64 bits
constexpr double kMaxPicosecondsPerByte = 1e9;  // times 2^16, and a ring of used elements

[[noreturn]] void refuse(const CostOverride& o, const char* range) {
  std::ostringstream text;
  text.precision(12);
  text << "costs[\"" << o.name << "\"] = " << o.value << ": " << range;
  throw std::invalid_argument(text.str());
}

void check(const CostOverride& o) {
  if (o.name == "clock_ghz") {
    if (!(o.value >= 0.1 && o.value <= 10)) refuse(o, "must be between 0.1 and 10 GHz");
    return;
  }
  const CostRow* row = find_cost_row(o.name);
  if (row == nullptr) refuse(o, "there is no such cost row");
  if (!std::isfinite(o.value) || o.value < 0) refuse(o, "must be finite and not negative");
  if (row->unit == Unit::kFraction && o.value > 1) refuse(o, "must be between 0 and 1");
}

// Looks rows up by name, overrides first.
class Resolver {
 public:
  Resolver(const HostPreset& host, const std::vector<CostOverride>& overrides)
      : overrides_(overrides), ghz_(host.clock_ghz.best) {
    for (const CostOverride& o : overrides) {
      check(o);
      if (o.name == "clock_ghz") ghz_ = o.value;
    }
  }

  double ghz() const { return ghz_; }

  double value(std::string_view row) const {
    for (auto o = overrides_.rbegin(); o != overrides_.rend(); ++o) {
      if (o->name == row) return o->value;
    }
    return find_cost_row(row)->best;
  }

  // The row in picoseconds at this clock.
  double picoseconds(std::string_view name) const {
    const CostRow* row = find_cost_row(name);
    const double v = value(name);
    switch (row->unit) {
      case Unit::kCycles:
      case Unit::kCyclesPerByte:
        return v * kPicosecondsPerNanosecond / ghz_;
      case Unit::kNanoseconds:
        return v * kPicosecondsPerNanosecond * (row->at_ghz > 0 ? row->at_ghz / ghz_ : 1);
      case Unit::kMicroseconds:
        return v * kPicosecondsPerMicrosecond;
      default:
        throw std::logic_error("cost row is not a time: " + std::string(name));
    }
  }

  std::uint64_t whole(std::string_view name) const {
    const double ps = picoseconds(name);
    if (ps > kMaxPicoseconds) refuse({std::string(name), value(name)}, "is above 1000 s");
    return static_cast<std::uint64_t>(std::llround(ps));
  }

  double per_byte(std::string_view name) const {
    const double ps = picoseconds(name);
    if (ps > kMaxPicosecondsPerByte)
      refuse({std::string(name), value(name)}, "is above 1 ms a byte");
    return ps;
  }

  // Picoseconds a byte of a row in MB/s.
  double at_bandwidth(std::string_view name) const {
    const double ps = kPicosecondsPerMicrosecond / value(name);
    if (!(ps <= kMaxPicosecondsPerByte)) refuse({std::string(name), value(name)}, "is too slow");
    return ps;
  }

 private:
  const std::vector<CostOverride>& overrides_;
  double ghz_;
};

// Rows that every host and kernel uses as they are.
struct Use {
  Cost cost;
  std::string_view row;
};
constexpr Use kUses[] = {
    {Cost::kAccessOk, "access_ok"},
    {Cost::kAddressMask, "address_mask"},
    {Cost::kSeparateFixup, "separate_fixup"},
    {Cost::kPlainAccess, "plain_access"},
    {Cost::kIovIter, "iov_iter_copy"},
    {Cost::kDirectCall, "direct_call"},
    {Cost::kFullBarrier, "smp_mb"},
    {Cost::kAtomicRmw, "atomic_rmw"},
    {Cost::kSpinLock, "spin_lock_unlock"},
    {Cost::kRcuRead, "rcu_read_section"},
    {Cost::kL2Hit, "load.l2"},
    {Cost::kL3Hit, "load.l3"},
    {Cost::kDram, "load.dram"},
    {Cost::kTransferCcx, "line_transfer.same_ccx"},
    {Cost::kTransferRemote, "line_transfer.remote_socket"},
    {Cost::kRemoteHome, "remote_home_extra"},
    {Cost::kLineStream, "line_stream"},
    {Cost::kTranslate, "translate_buffer"},
    {Cost::kPageFrag, "page_frag_alloc"},
    {Cost::kFrameRelease, "atomic_rmw"},
    {Cost::kXdpFrame, "tun_xdp_frame"},
    {Cost::kXdpProgram, "xdp_program_noop"},
    {Cost::kXdpRedirect, "xdp_redirect_frame"},
    {Cost::kNicDoorbell, "nic_doorbell"},
    {Cost::kRingEntry, "ptr_ring_entry"},
    {Cost::kSkbBuild, "build_skb"},
    {Cost::kSkbAlloc, "skb_alloc_free"},
    {Cost::kSkbFree, "kfree_skb"},
    {Cost::kPageAlloc, "alloc_page_free"},
    {Cost::kZeroCopy, "zerocopy_notice"},
    {Cost::kReceiveStack, "stack_receive_to_raw_drop"},
    {Cost::kBridge, "bridge_forward"},
    {Cost::kMacvlan, "macvlan_transmit"},
    {Cost::kSendCall, "tun_send_call"},
    {Cost::kBhPair, "bh_disable_enable"},
    {Cost::kVmExit, "kick.pio_ioeventfd"},
    {Cost::kEventfdSignal, "eventfd_signal"},
    {Cost::kIrqInject, "irqfd_inject_posted"},
    {Cost::kContextSwitch, "context_switch.thread"},
    {Cost::kWorkerRequeue, "worker_requeue"},
    {Cost::kBusyPollTurn, "busy_poll_turn"},
    {Cost::kGuestPacket, "pmd_tx_packet"},
    {Cost::kGuestBurst, "pmd_tx_burst"},
    {Cost::kGuestPoll, "pmd_empty_poll"},
    {Cost::kGuestInterrupt, "guest_interrupt"},
    {Cost::kGuestReceive, "pmd_rx_packet"},
    {Cost::kGuestMacSwap, "pmd_mac_swap"},
    {Cost::kGenerator, "pktgen_packet"},
    {Cost::kTcpWrite, "tcp_write_call"},
    {Cost::kTcpTransmit, "tcp_transmit"},
    {Cost::kTcpReceive, "tcp_receive"},
    {Cost::kTcpAckSend, "tcp_ack_send"},
    {Cost::kTcpAckReceive, "tcp_ack_receive"},
    {Cost::kTcpRead, "tcp_read_call"},
    {Cost::kReaderWake, "reader_wake"},
    {Cost::kReceiveCall, "tun_receive_call"},
    {Cost::kGup, "gup_fast_per_page"},
    {Cost::kVmap, "vmap_page"},
    {Cost::kVunmap, "vunmap_page"},
    {Cost::kTlbShootdown, "tlb_shootdown"},
    {Cost::kUnpinDirty, "unpin_dirty_page"},
    {Cost::kMmuNotifier, "mmu_notifier_call"},
    {Cost::kRcuGrace, "rcu_grace_period"},
    {Cost::kUnmodelled, "unmodelled.vhost_net_tx"},
    {Cost::kUnmodelledRx, "unmodelled.vhost_net_rx"},
    {Cost::kGuestApp, "fio_io"},
    {Cost::kDmaCall, "dma_direct_call"},
    {Cost::kDmaSync, "dma_sync"},
    {Cost::kIovaCached, "iova_alloc.cached"},
    {Cost::kIovaTree, "iova_alloc.rbtree"},
    {Cost::kIommuMap, "iommu_map_page"},
    {Cost::kIommuUnmap, "iommu_unmap_page"},
    {Cost::kIommuMore, "iommu_more_page"},
    {Cost::kIotlbInvalidate, "iotlb_invalidate_sync"},
    {Cost::kNapiPoll, "napi_poll"},
    {Cost::kNapiPacket, "napi_packet"},
    {Cost::kUdpReceive, "stack_receive_ip_udp"},
    {Cost::kUnmodelledGuestRx, "unmodelled.guest_rx"},
    {Cost::kGuestAio, "aio_submit_one"},
    {Cost::kGuestBlkRequest, "guest_blk_request"},
    {Cost::kGuestBlkPage, "guest_blk_page"},
    {Cost::kGuestBlkComplete, "guest_blk_complete"},
    {Cost::kExitToVmm, "exit_to_user_vmm.pio"},
    {Cost::kGuestBlkPageDone, "guest_blk_page_done"},
    {Cost::kApicExit, "kick.mmio_ioeventfd"},
    {Cost::kBioSubmit, "bio_submit"},
    {Cost::kBioComplete, "bio_complete"},
    {Cost::kVfsCall, "vfs_call"},
    {Cost::kCacheRead, "page_cache_read_per_page"},
    {Cost::kCacheWrite, "page_cache_write_per_page"},
    {Cost::kCacheWriteCall, "page_cache_write_per_call"},
    {Cost::kRamPage, "ram_disk_page"},
    {Cost::kVmmTurn, "vmm_turn"},
    {Cost::kVmmRequest, "vmm_request"},
    {Cost::kThreadHandoff, "thread_handoff"},
    {Cost::kAioRequest, "aio_request"},
    {Cost::kUringRequest, "uring_request"},
    {Cost::kIrqIoctl, "irq_ioctl"},
    {Cost::kUnmodelledBlk, "unmodelled.vhost_blk"},
    {Cost::kUdpSend, "sendmsg_udp_small"},
    {Cost::kUdpRead, "recvmsg_udp_small"},
    {Cost::kSocketApp, "socket_message"},
    {Cost::kXskApp, "xsk_app_frame"},
    {Cost::kXskDriver, "xsk_driver_frame"},
    {Cost::kUnmodelledGuestTx, "unmodelled.guest_tx"},
    {Cost::kIotlbMiss, "iotlb_miss"},
    {Cost::kBounceSlots, "swiotlb_slots"},
    {Cost::kMmioToVmm, "exit_to_user_vmm.mmio"},
    {Cost::kVhostQueueStop, "vhost_queue_stop"},
    {Cost::kVhostQueueStart, "vhost_queue_start"},
};

// A row of a disk; a disk that lacks it pays nothing.
std::uint64_t disk_ps(const Resolver& rows, std::string_view name) {
  return name.empty() ? 0 : rows.whole(name);
}

DiskCosts::Direction direction(const Resolver& rows, const DiskPreset::Direction& names) {
  return {disk_ps(rows, names.request), disk_ps(rows, names.latency),
          names.bandwidth.empty() ? 0 : rows.at_bandwidth(names.bandwidth)};
}

}  // namespace

DiskCosts resolve_disk(const HostPreset& host, const DiskPreset& disk,
                       const std::vector<CostOverride>& overrides) {
  const Resolver rows(host, overrides);
  return {direction(rows, disk.read), direction(rows, disk.write), disk_ps(rows, disk.seek),
          disk_ps(rows, disk.turn), disk_ps(rows, disk.flush)};
}

CostModel resolve_costs(const HostPreset& host, const KernelPreset& kernel,
                        const std::vector<CostOverride>& overrides) {
  const Resolver rows(host, overrides);
  CostModel m;
  m.clock_ghz = rows.ghz();
  for (const Use& use : kUses) m.ps[index(use.cost)] = rows.whole(use.row);
  const auto set = [&m](Cost cost, std::uint64_t ps) { m.ps[index(cost)] = ps; };
  set(Cost::kStacClac, kernel.smap ? rows.whole(host.stac_clac) : 0);
  set(Cost::kLfenceFloor, rows.whole(host.lfence));
  set(Cost::kCopyStartup, rows.whole(host.copy_startup));
  set(Cost::kHardenedUsercopy, kernel.hardened_usercopy ? rows.whole("hardened_usercopy") : 0);
  set(Cost::kIndirectCall,
      rows.whole(kernel.retpoline ? "indirect_call_retpoline" : "indirect_call"));
  set(Cost::kTransferSocket, rows.whole(host.transfer_socket));
  set(Cost::kSyscall, rows.whole(kernel.kpti ? "syscall.kpti_pcid" : "syscall.no_kpti"));
  set(Cost::kVmmSegment, rows.whole(kernel.old_vmm ? "vmm_segment.2010" : "vmm_segment"));
  // A loop that waits must pass time, or nobody else would ever be the earliest.
  for (const Cost poll : {Cost::kGuestPoll, Cost::kBusyPollTurn})
    set(poll, std::max<std::uint64_t>(m[poll], 1));
  m.copy_ps_per_byte = rows.per_byte("copy_per_byte.l1");
  m.tcp_write_ps_per_byte = rows.per_byte("tcp_write_per_byte");
  m.tcp_read_ps_per_byte = rows.per_byte("tcp_read_per_byte");
  m.ooo_overlap = rows.value("ooo_overlap");
  m.store_exposed = rows.value("store_exposed");
  m.wakeup_ps = rows.whole("wakeup.cpu_awake");
  m.until_switch_ps = m.wakeup_ps - std::min(m.wakeup_ps, m[Cost::kContextSwitch]);
  m.time_slice_ps = rows.whole("time_slice");
  m.irq_latency_ps = rows.whole("guest_ipi");
  m.nic_completion_ps = rows.whole("nic_completion");
  m.stlb_hit_ps = rows.whole("stlb_hit");
  m.page_walk_ps = rows.whole("page_walk");
  return m;
}

}  // namespace vringlab::sim
