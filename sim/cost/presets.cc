#include "sim/cost/presets.h"

#include <array>
#include <stdexcept>

namespace vringlab::sim {
namespace {

constexpr std::uint32_t kKiB = 1024;
constexpr std::uint32_t kMiB = 1024 * kKiB;

// Cache sizes are those of the vendor's data sheets.
constexpr auto kHosts = std::to_array<HostPreset>({
    {.name = "broadwell-2.6",
     .doc = "Intel Broadwell server at 2.6 GHz, one socket in use; the host of vmap-2019",
     .clock_ghz = {2.6, 2.6, 2.6},
     .stac_clac = "stac_clac_pair.intel",
     .lfence = "lfence_floor.intel",
     .copy_startup = "rep_movs_startup.erms",
     .transfer_socket = "line_transfer.same_socket",
     .apic_exits = 0,
     .l1_bytes = 32 * kKiB,
     .l2_bytes = 256 * kKiB,
     .l3_bytes = 32 * kMiB},
    {.name = "unnamed-2018",
     .doc = "the x86 server of vmap-2018, which its author did not name: an Intel server part of "
            "the years before, its clock a guess with a range",
     .clock_ghz = {2.2, 2.6, 3.2},
     .stac_clac = "stac_clac_pair.intel",
     .lfence = "lfence_floor.intel",
     .copy_startup = "rep_movs_startup.erms",
     .transfer_socket = "line_transfer.same_socket",
     .apic_exits = 0,
     .l1_bytes = 32 * kKiB,
     .l2_bytes = 256 * kKiB,
     .l3_bytes = 32 * kMiB},
    {.name = "unnamed-2023",
     .doc = "the x86 server of premapped-2023, which its author did not name: an Intel server part "
            "of the years before, its clock a guess with a range",
     .clock_ghz = {2.2, 2.7, 3.5},
     .stac_clac = "stac_clac_pair.intel",
     .lfence = "lfence_floor.intel",
     .copy_startup = "rep_movs_startup.fsrm",
     .transfer_socket = "line_transfer.same_socket",
     .apic_exits = 0,
     .l1_bytes = 32 * kKiB,
     .l2_bytes = 1024 * kKiB,
     .l3_bytes = 32 * kMiB},
    {.name = "skylake-8163-2.5",
     .doc = "Intel Xeon Platinum 8163 (Skylake) at 2.5 GHz; the host of afxdp-2023",
     .clock_ghz = {2.5, 2.5, 2.5},
     .stac_clac = "stac_clac_pair.intel",
     .lfence = "lfence_floor.intel",
     .copy_startup = "rep_movs_startup.erms",
     .transfer_socket = "line_transfer.same_socket",
     .apic_exits = 0,
     .l1_bytes = 32 * kKiB,
     .l2_bytes = 1024 * kKiB,
     .l3_bytes = 33 * kMiB},
    {.name = "unnamed-2010",
     .doc = "the x86 server of vhost-blk-2010, which its author did not name: an Intel server part "
            "of the years before, its clock a guess with a range",
     .clock_ghz = {2.0, 2.5, 3.0},
     .stac_clac = "stac_clac_pair.intel",
     .lfence = "lfence_floor.intel",
     .copy_startup = "rep_movs_startup.erms",
     .transfer_socket = "line_transfer.same_socket",
     .apic_exits = 3,
     .l1_bytes = 32 * kKiB,
     .l2_bytes = 256 * kKiB,
     .l3_bytes = 8 * kMiB},
    {.name = "broadwell-e5-2650v4",
     .doc = "Intel Xeon E5-2650 v4 at 2.2 GHz",
     .clock_ghz = {2.2, 2.2, 2.2},
     .stac_clac = "stac_clac_pair.intel",
     .lfence = "lfence_floor.intel",
     .copy_startup = "rep_movs_startup.erms",
     .transfer_socket = "line_transfer.same_socket",
     .apic_exits = 0,
     .l1_bytes = 32 * kKiB,
     .l2_bytes = 256 * kKiB,
     .l3_bytes = 32 * kMiB},
    {.name = "icelake-2.9",
     .doc = "Intel Ice Lake server at 2.9 GHz, fast short string copies",
     .clock_ghz = {2.9, 2.9, 2.9},
     .stac_clac = "stac_clac_pair.intel",
     .lfence = "lfence_floor.intel",
     .copy_startup = "rep_movs_startup.fsrm",
     .transfer_socket = "line_transfer.same_socket",
     .apic_exits = 0,
     .l1_bytes = 48 * kKiB,
     .l2_bytes = 1280 * kKiB,
     .l3_bytes = 48 * kMiB},
    {.name = "zen2-3.3",
     .doc = "AMD Zen 2 server at 3.3 GHz; cores in different CCXs",
     .clock_ghz = {3.3, 3.3, 3.3},
     .stac_clac = "stac_clac_pair.zen2",
     .lfence = "lfence_floor.zen",
     .copy_startup = "rep_movs_startup.erms",
     .transfer_socket = "line_transfer.cross_ccx",
     .apic_exits = 0,
     .l1_bytes = 32 * kKiB,
     .l2_bytes = 512 * kKiB,
     .l3_bytes = 16 * kMiB},
});

// The order of fields is that of KernelPreset: smap, nospec, copy_nospec,
// retpoline, kpti, hardened_usercopy, old_vmm, frag_bias.
constexpr auto kKernels = std::to_array<KernelPreset>({
    {"v5.0", "Linux 4.20 to 5.x as vhost ran on it: barrier in get_user, none in copy_from_user",
     true, true, false, true, true, false},
    {"v5.0-nosmap", "the same, booted with nosmap", false, true, false, true, true, false},
    {"v5.0-noretpoline", "v5.0 with plain indirect calls", true, true, false, false, true, false},
    {"v5.0-hardened", "v5.0 with HARDENED_USERCOPY", true, true, false, true, true, true},
    {"v6.2", "Linux 6.2 to 6.12: copy_from_user has a speculation barrier too", true, true, true,
     true, true, true},
    {"v5.0-page-refs", "v5.0 that takes a reference of its page for each transmitted frame", true,
     true, false, true, true, false, false, false},
    {"v2.6.33", "Linux of early 2010: no SMAP, no mitigations", false, false, false, false, false,
     false, true},
    {"bare", "no SMAP, no mitigations: what the accesses cost by themselves", false, false, false,
     false, false, false},
});

constexpr auto kDisks = std::to_array<DiskPreset>({
    {.name = "array-2010",
     .doc = "a RAID of spinning disks of 2010 that writes through its cache",
     .depth = 64,
     .read = {"disk_request.array_2010", "disk_latency.array_2010", "disk_sequential.array_2010"},
     .write = {"disk_request.array_2010", "disk_latency.array_2010",
               "disk_sequential.array_2010_write"},
     .seek = "disk_seek.array_2010",
     .turn = "disk_turn.array_2010",
     .flush = "disk_flush.array_2010"},
    {.name = "sata-ssd",
     .doc = "an SSD on SATA, queue of 32",
     .depth = 32,
     .read = {"disk_request.sata_ssd_read", "disk_latency.sata_ssd_read",
              "disk_sequential.sata_ssd"},
     .write = {"disk_request.sata_ssd_write", "disk_latency.sata_ssd_write",
               "disk_sequential.sata_ssd"},
     .seek = "",
     .turn = "",
     .flush = "fsync.consumer"},
    {.name = "nvme",
     .doc = "an SSD on PCIe with power-loss protection",
     .depth = 1023,
     .read = {"disk_request.nvme_read", "disk_latency.nvme_read", "disk_sequential.nvme"},
     .write = {"disk_request.nvme_write", "disk_latency.nvme_write", "disk_sequential.nvme"},
     .seek = "",
     .turn = "",
     .flush = "fsync.power_loss_protected"},
    {.name = "ram",
     .doc = "a RAM disk: whoever submits copies the pages",
     .depth = 0,
     .read = {},
     .write = {},
     .seek = "",
     .turn = "",
     .flush = ""},
});

template <class Preset>
const Preset& find(std::span<const Preset> presets, std::string_view field,
                   std::string_view wanted) {
  std::string names;
  for (const Preset& preset : presets) {
    if (preset.name == wanted) return preset;
    names += (names.empty() ? "" : ", ") + std::string(preset.name);
  }
  throw std::invalid_argument(std::string(field) + " = \"" + std::string(wanted) +
                              "\": must be one of " + names);
}

}  // namespace

std::span<const HostPreset> host_presets() { return kHosts; }
std::span<const KernelPreset> kernel_presets() { return kKernels; }
std::span<const DiskPreset> disk_presets() { return kDisks; }
const DiskPreset& find_disk(std::string_view name) { return find(disk_presets(), "disk", name); }
const HostPreset& find_host(std::string_view name) { return find(host_presets(), "host", name); }
const KernelPreset& find_kernel(std::string_view name) {
  return find(kernel_presets(), "kernel", name);
}

}  // namespace vringlab::sim
