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
};

std::span<const HostPreset> host_presets();
std::span<const KernelPreset> kernel_presets();

// Throw std::invalid_argument that lists the names there are.
const HostPreset& find_host(std::string_view name);
const KernelPreset& find_kernel(std::string_view name);

}  // namespace vringlab::sim
