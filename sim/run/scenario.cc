#include "sim/run/scenario.h"

#include <bit>

#include "core/spec/net.h"
#include "core/spec/split.h"
#include "sim/cost/presets.h"
#include "sim/guest/xsk_socket.h"
#include "sim/host/sinks.h"
#include "sim/run/blk_scenario.h"
#include "sim/run/checks.h"

namespace vringlab::sim {
namespace {

// Costs are checked where they are resolved.
void check_machine(const Scenario& s) {
  resolve_costs(find_host(s.host), find_kernel(s.kernel), s.costs);
  one_of("distance", s.distance, {"same_ccx", "same_socket", "remote"});
  if (s.guest_page_bytes != 4096 && s.guest_page_bytes != 2097152)
    refuse("guest_page_bytes", s.guest_page_bytes, "4096 or 2097152");
}

void check_guest(const Scenario& s) {
  one_of("guest", s.guest, {"virtio-user", "vm", "vm-pktgen", "vm-kernel", "vm-udp", "vm-xsk"});
  one_of("guest_notify", s.guest_notify, {"poll", "interrupt"});
  one_of("arrival", s.arrival, {"periodic", "poisson"});
  one_of("workload", s.workload, {"tx", "rx", "stream", "io", "macswap", "rr", "blk"});
  in_range<std::uint32_t>("rx_buffer_bytes", s.rx_buffer_bytes, 64, 1u << 20);
  in_range<std::uint32_t>("tap_entries", s.tap_entries, 1, 65536);
  in_range<std::uint64_t>("packets", s.packets, 1, 1000000000000);
  in_range<std::uint32_t>("packet_bytes", s.packet_bytes, 14, kMaxFrameBytes);
  in_range<std::uint32_t>("guest_burst", s.guest_burst, 1, kMaxQueueSize);
  if (s.offered_pps == 0) return;
  in_range("offered_pps", s.offered_pps, 0.001, 1e9);
  // 64 bits of picoseconds are 1.8e7 s.
  if (static_cast<double>(s.packets) > s.offered_pps * 1e6)
    refuse("packets", s.packets, "at most offered_pps times 1e6 s");
}

std::uint32_t smallest_ring(const Scenario& s) {
  return s.resizes_per_s == 0 ? s.ring_size : s.ring_size / 2;
}

// Does somebody in the host send frames to the guest?
bool has_sender(const Scenario& s) {
  return s.workload == "rx" || s.workload == "io" || s.workload == "macswap";
}

// A frame that no buffer can ever take would be dropped for ever.
void check_receive(const Scenario& s) {
  if (!has_sender(s)) return;
  const bool kernel = s.guest == "vm-kernel" || s.guest == "vm-udp";
  if ((kernel || s.guest == "vm-xsk") && s.rx_buffer_bytes != Scenario{}.rx_buffer_bytes)
    refuse("rx_buffer_bytes", s.rx_buffer_bytes, "as it is by default where guest is " + s.guest);
  const std::uint64_t room = s.guest == "vm-xsk"
                                 ? XskLayout{}.chunk_bytes - kXdpPacketHeadroom
                                 : std::uint64_t{kernel ? s.min_buffer_bytes : s.rx_buffer_bytes} *
                                       (s.mergeable ? std::min(smallest_ring(s), 64u) : 1);
  if (s.packet_bytes > room)
    refuse("packet_bytes", s.packet_bytes, "at most what the receive buffers of a packet hold");
  if (s.workload != "rx" && s.packet_bytes > s.rx_buffer_bytes)
    refuse("packet_bytes", s.packet_bytes, "at most rx_buffer_bytes where frames are sent back");
  if (s.packet_bytes < 42) refuse("packet_bytes", s.packet_bytes, "at least 42, headers included");
}

void check_sender(const Scenario& s) {
  one_of("sender", s.sender, {"pktgen", "udp"});
  if (s.sender != "pktgen" && !has_sender(s))
    refuse("sender", "\"" + s.sender + "\"", "pktgen unless workload is rx, io or macswap");
}

// Several queues share threads that neither poll nor are served by kicks; their mappings
// stay, and their memory is at home.
void check_pairs(const Scenario& s) {
  if (s.queue_pairs == 1) return;
  if (s.zerocopy) refuse("zerocopy", "true", "false where queue_pairs is not 1");
  if (s.inline_packets != 0)
    refuse("inline_packets", s.inline_packets, "0 where queue_pairs is not 1");
  if (s.busy_poll_us != 0) refuse("busy_poll_us", s.busy_poll_us, "0 where queue_pairs is not 1");
  if (s.invalidations_per_s != 0)
    refuse("invalidations_per_s", s.invalidations_per_s, "0 where queue_pairs is not 1");
  if (s.ring_remote) refuse("ring_remote", "true", "false where queue_pairs is not 1");
}

// The one thread of a single queue polls and is served by kicks, and those of disks wait for
// files; neither does so on a core that it shares.
void check_worker_cores(const Scenario& s) {
  in_range<std::uint32_t>("worker_cores", s.worker_cores, 0, 5);
  if (s.worker_cores == 0) return;
  if (s.worker_cores > s.workers) refuse("worker_cores", s.worker_cores, "at most workers");
  if (s.queue_pairs == 1 && (s.workload == "tx" || s.workload == "rx"))
    refuse("worker_cores", s.worker_cores, "0 where workload is tx or rx and queue_pairs is 1");
  if (s.workload == "blk") refuse("worker_cores", s.worker_cores, "0 where workload is blk");
}

// Frames that wait in a TAP's ring take memory of their own.
void check_tap(const Scenario& s) {
  if (!find_sink(s.sink).is_read()) return;
  constexpr std::uint32_t kMaxRead = 4096;
  if (s.tap_entries > kMaxRead)
    refuse("tap_entries", s.tap_entries, "at most 4096 where the sink is read");
  if (s.workload == "rx") return;
  constexpr std::uint32_t kCores = Coherence::kMaxCores;
  if (pair_cores(s) > kCores)
    refuse("queue_pairs", s.queue_pairs, "such that all cores are at most 16");
}

// An AF_XDP socket of the guest.
void check_xsk(const Scenario& s) {
  if (s.xsk_ring < 64 || s.xsk_ring > 32768 || !std::has_single_bit(s.xsk_ring))
    refuse("xsk_ring", s.xsk_ring, "a power of two between 64 and 32768");
  if (s.guest != "vm-xsk") return;
  if (s.guest_burst > s.xsk_ring / 2)
    refuse("guest_burst", s.guest_burst, "at most half of xsk_ring where guest is vm-xsk");
  constexpr std::uint32_t kChunk = XskLayout{}.chunk_bytes;
  if (s.packet_bytes > kChunk)
    refuse("packet_bytes", s.packet_bytes, "at most 4096 where guest is vm-xsk");
  if (s.iommu == "swiotlb")
    refuse("iommu", "\"swiotlb\"", "another one where guest is vm-xsk: no pool takes a umem");
  if (s.workload == "tx" && s.indirect && s.iommu != "off")
    refuse("indirect", "true", "false behind an IOMMU");
  if (find_sink(s.sink).is_read() && s.workload == "tx")
    refuse("sink", "\"" + s.sink + "\"", "one that is not read where guest is vm-xsk");
}

// A bounce pool takes all buffers of the ring, or it would be the bound.
void check_pool(const Scenario& s) {
  if (s.iommu != "swiotlb") return;
  if (s.dma_merge && s.fragment_bytes > kSwiotlbMaxBytes)
    refuse("fragment_bytes", s.fragment_bytes, "at most 262144 where a pool takes it whole");
  constexpr std::uint32_t kLongest = 2;  // slots of a buffer
  const std::uint64_t slots =
      s.dma_merge ? std::uint64_t{kernel_fragments(s)} * (s.fragment_bytes / kSwiotlbSlotBytes)
                  : std::uint64_t{s.ring_size} * kLongest;
  if (s.swiotlb_slots < slots)
    refuse("swiotlb_slots", s.swiotlb_slots,
           "at least " + std::to_string(slots) + " for this ring");
}

// Guests whose kernel, or a process on it, sends or receives.
void check_kernel_guest(const Scenario& s) {
  one_of("iommu", s.iommu, {"off", "passthrough", "lazy", "strict", "swiotlb"});
  in_range<std::uint32_t>("fragment_bytes", s.fragment_bytes, 4096, 1u << 20);
  in_range<std::uint32_t>("iotlb_entries", s.iotlb_entries, 1, 65536);
  in_range<std::uint32_t>("swiotlb_slots", s.swiotlb_slots, 128, 32768);
  if (s.fragment_bytes % 4096 != 0) refuse("fragment_bytes", s.fragment_bytes, "whole pages");
  in_range<std::uint32_t>("min_buffer_bytes", s.min_buffer_bytes, 42, 4084);
  in_range("napi_defer_us", s.napi_defer_us, 0.0, 1e6);
  const bool receives = cuts_buffers(s) || (s.guest == "vm-xsk" && s.workload == "rx");
  if (s.napi_defer_us != 0 && !receives)
    refuse("napi_defer_us", s.napi_defer_us, "0 unless a guest's kernel receives");
  if (!s.napi_tx && (s.guest != "vm-udp" || s.workload != "tx"))
    refuse("napi_tx", "false", "true unless workload is tx and guest vm-udp");
  in_range<std::uint32_t>("receive_buffer_bytes", s.receive_buffer_bytes, 256, 1u << 28);
  if (s.dma_merge && !cuts_buffers(s))
    refuse("dma_merge", "true", "false unless a guest's kernel receives into its own buffers");
  if (s.iommu != "off" && !cuts_buffers(s) && s.guest != "vm-xsk")
    refuse("iommu", "\"" + s.iommu + "\"", "off unless guest is vm-kernel, vm-udp or vm-xsk");
  if (s.guest != "vm-kernel" && s.guest != "vm-udp" && s.guest != "vm-xsk") return;
  const std::string guest = "\"" + s.guest + "\"";
  if (s.queue_pairs != 1 && s.guest != "vm-kernel")
    refuse("queue_pairs", s.queue_pairs, "1 where guest is " + s.guest);
  if (s.workload != "rx" && (s.workload != "tx" || s.guest == "vm-kernel"))
    refuse("guest", guest, "another one unless workload is rx, or tx and it is not vm-kernel");
  if (s.zerocopy) refuse("zerocopy", "true", "false where guest is " + s.guest);
  if (s.split_header) refuse("split_header", "true", "false where guest is " + s.guest);
  if (s.workload == "tx") return;
  if (cuts_buffers(s) && std::uint64_t{kernel_fragments(s)} * s.fragment_bytes > std::uint64_t{1}
                                                                                     << 30)
    refuse("fragment_bytes", s.fragment_bytes,
           "such that fragments for ring_size and receive_buffer_bytes are at most 1 GiB");
  check_pool(s);
  if (!s.mergeable) refuse("mergeable", "false", "true where guest is " + s.guest);
  if (s.indirect) refuse("indirect", "true", "false where it receives by " + s.guest);
}

// One queue of a guest kernel; the control core has one clock, for one of two timers.
void check_resizes(const Scenario& s) {
  if (s.resizes_per_s == 0) return;
  in_range("resizes_per_s", s.resizes_per_s, 0.001, 1e6);
  if (s.workload != "rx" || s.guest != "vm-kernel" || s.queue_pairs != 1)
    refuse("resizes_per_s", s.resizes_per_s,
           "0 unless workload is rx, guest vm-kernel and queue_pairs 1");
  if (s.invalidations_per_s != 0)
    refuse("invalidations_per_s", s.invalidations_per_s, "0 where resizes_per_s is not 0");
  if (s.ring_remote) refuse("ring_remote", "true", "false where resizes_per_s is not 0");
  if (s.ring_size < 4) refuse("ring_size", s.ring_size, "at least 4 where resizes_per_s is not 0");
}

// What a workload does not simulate is refused, not ignored.
void check_unused(const Scenario& s) {
  if (s.workload == "tx") return;
  if (s.inline_packets != 0)
    refuse("inline_packets", s.inline_packets, "0 where workload is not tx");
  if (s.split_header) refuse("split_header", "true", "false where workload is not tx");
  if (s.workload == "rx") return;
  if (s.busy_poll_us != 0)
    refuse("busy_poll_us", s.busy_poll_us, "0 where workload is neither tx nor rx");
  if (s.invalidations_per_s != 0)
    refuse("invalidations_per_s", s.invalidations_per_s, "0 where workload is neither tx nor rx");
  if (s.ring_remote) refuse("ring_remote", "true", "false where workload is neither tx nor rx");
}

void check_streams(const Scenario& s) {
  in_range<std::uint32_t>("message_bytes", s.message_bytes, 1, 1u << 20);
  in_range<std::uint32_t>("sessions", s.sessions, 1, 8);
  in_range<std::uint32_t>("vcpus", s.vcpus, 1, 6);
  in_range<std::uint32_t>("queue_pairs", s.queue_pairs, 1, 5);
  in_range<std::uint32_t>("workers", s.workers, 1, 5);
  in_range<std::uint64_t>("send_buffer_bytes", s.send_buffer_bytes, 4096, 1u << 30);
  in_range("stream_ms", s.stream_ms, 0.001, 1e6);
  if (s.workload != "stream" && s.workload != "rr") return;
  constexpr std::uint32_t kCores = Coherence::kMaxCores;
  if (stream_cores(s) > kCores) refuse("workers", s.workers, "such that all cores are at most 16");
  if (s.sink != "host_tcp")
    refuse("sink", "\"" + s.sink + "\"", "host_tcp where workload is stream or rr");
  if (s.ring_size < 64)
    refuse("ring_size", s.ring_size, "at least 64 where workload is stream or rr");
}

void check_ring(const Scenario& s) {
  if (s.ring_size < 2 || !valid_queue_size(s.ring_size))
    refuse("ring_size", s.ring_size, "a power of two between 2 and 32768");
  if (s.ring_offset % kDescAlign != 0 || s.ring_offset >= 4096)
    refuse("ring_offset", s.ring_offset, "a multiple of 16 below 4096");
  constexpr std::uint64_t kMaxGuestBytes = std::uint64_t{1} << 30;
  if (std::uint64_t{s.ring_size} * s.packet_bytes > kMaxGuestBytes)
    refuse("packet_bytes", s.packet_bytes, "such that ring_size frames are at most 1 GiB");
  if (std::uint64_t{s.ring_size} * s.rx_buffer_bytes > kMaxGuestBytes)
    refuse("rx_buffer_bytes", s.rx_buffer_bytes, "such that ring_size buffers are at most 1 GiB");
}

void check_device(const Scenario& s) {
  if (s.zerocopy && find_sink(s.sink).program)
    refuse("zerocopy", "true", "false where the sink runs a program");
  if (s.zerocopy && s.workload != "tx")
    refuse("zerocopy", "true", "false where workload is not tx");
  if (s.zerocopy && s.inline_packets != 0)
    refuse("inline_packets", s.inline_packets, "0 with zerocopy");
  find_sink(s.sink);
  in_range<std::uint32_t>("zerocopy_min_bytes", s.zerocopy_min_bytes, 14, kMaxFrameBytes);
  if (s.nic_pps != 0) in_range("nic_pps", s.nic_pps, 0.001, 1e9);
  in_range<std::uint32_t>("batch", s.batch, 1, 1024);
  in_range<std::uint32_t>("copy_batch", s.copy_batch, 1, 64);
  in_range<std::uint32_t>("weight_packets", s.weight_packets, 1, 1u << 20);
  in_range<std::uint32_t>("weight_bytes", s.weight_bytes, 1, 1u << 30);
  in_range("busy_poll_us", s.busy_poll_us, 0.0, 1e6);
  in_range<std::uint32_t>("inline_packets", s.inline_packets, 0, 1024);
  if (s.invalidations_per_s != 0)
    in_range("invalidations_per_s", s.invalidations_per_s, 0.001, 1e6);
  if (s.plan.translation != Translation::kUserAddress)
    refuse("plan.translation", "\"iotlb\"", "user_address: the device IOTLB is not simulated");
}

}  // namespace

bool cuts_buffers(const Scenario& s) {
  return s.workload == "rx" && (s.guest == "vm-kernel" || s.guest == "vm-udp");
}

std::uint32_t kernel_fragments(const Scenario& s) {
  constexpr std::uint32_t kLongestBuffer = 4096;
  constexpr std::uint32_t kHeader = sizeof(VirtioNetHdr);
  constexpr std::uint32_t kSpare = 8;
  const std::uint32_t each = s.fragment_bytes / kLongestBuffer;
  const std::uint32_t waiting =
      s.guest == "vm-udp" ? s.receive_buffer_bytes / (s.min_buffer_bytes + kHeader) : 0;
  return (s.ring_size + each - 1) / each + waiting + kSpare;
}

std::uint32_t worker_core_count(const Scenario& s) {
  return s.worker_cores != 0 ? s.worker_cores : s.workers;
}

std::uint32_t pair_cores(const Scenario& s) {
  const std::uint32_t generators = s.workload != "tx" ? 1 : 0;
  const std::uint32_t readers = s.workload != "rx" && find_sink(s.sink).is_read() ? 1 : 0;
  return 1 + worker_core_count(s) + s.queue_pairs * (1 + generators + readers);
}

std::uint32_t stream_cores(const Scenario& s) {
  return 1 + worker_core_count(s) + s.vcpus + s.sessions;
}

std::vector<SinkInfo> sink_infos() {
  std::vector<SinkInfo> infos;
  for (const SinkKind& kind : sink_kinds())
    infos.push_back({std::string(kind.name), std::string(kind.doc), kind.program, kind.held});
  return infos;
}

void check_scenario(const Scenario& scenario) {
  check_machine(scenario);
  check_guest(scenario);
  check_kernel_guest(scenario);
  check_xsk(scenario);
  check_unused(scenario);
  check_sender(scenario);
  check_resizes(scenario);
  check_pairs(scenario);
  check_worker_cores(scenario);
  check_tap(scenario);
  check_receive(scenario);
  check_streams(scenario);
  check_ring(scenario);
  check_device(scenario);
  check_blk(scenario);
}

}  // namespace vringlab::sim
