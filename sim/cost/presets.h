// Hosts and kernels by name: which rows they use, and which switches are on.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace vringlab::sim {

// Low, best and high of a quantity that a host fixes.
struct Range {
  double low;
  double best;
  double high;
};

// A processor. Row names say which variant of a cost it pays.
struct HostPreset {
  std::string_view name;
  std::string_view doc;
  Range clock_ghz;
  std::string_view stac_clac;
  std::string_view lfence;
  std::string_view copy_startup;
  std::string_view transfer_socket;
  std::uint32_t apic_exits;  // that an interrupt and the sleep before it take a guest that idles:
                             // timer stopped, timer set, end of interrupt; 0 with a virtual APIC
  std::uint32_t l1_bytes;
  std::uint32_t l2_bytes;
  std::uint32_t l3_bytes;
};

// What a kernel was built and booted with.
struct KernelPreset {
  std::string_view name;
  std::string_view doc;
  bool smap;               // user accesses toggle AC
  bool nospec;             // get_user is followed by a speculation barrier
  bool copy_nospec;        // copy_from_user has one as well
  bool retpoline;          // indirect calls through a return trampoline
  bool kpti;               // page-table isolation
  bool hardened_usercopy;  // copies check the kernel object
  bool old_vmm = false;    // a VMM of its time loads each field of a descriptor by its address
  bool frag_bias = true;   // references of a page fragment's page are taken many at once
};

// A disk. Row names say what it pays; an empty name is nothing.
struct DiskPreset {
  struct Direction {
    std::string_view request;
    std::string_view latency;
    std::string_view bandwidth;
  };
  std::string_view name;
  std::string_view doc;
  std::uint32_t depth;  // requests it works on at once; 0: it has no queue, the caller copies
  Direction read;
  Direction write;
  std::string_view seek;
  std::string_view turn;
  std::string_view flush;
};

std::span<const HostPreset> host_presets();
std::span<const KernelPreset> kernel_presets();
std::span<const DiskPreset> disk_presets();

// Throw std::invalid_argument that lists the names there are.
const HostPreset& find_host(std::string_view name);
const KernelPreset& find_kernel(std::string_view name);
const DiskPreset& find_disk(std::string_view name);

}  // namespace vringlab::sim
