#include "sim/cost/presets.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "sim/cost/rows.h"

namespace vringlab::sim {
namespace {

TEST(HostPresets, use_rows_that_exist) {
  for (const HostPreset& host : host_presets()) {
    for (const std::string_view row :
         {host.stac_clac, host.lfence, host.copy_startup, host.transfer_socket})
      EXPECT_NE(find_cost_row(row), nullptr) << host.name << ' ' << row;
  }
}

TEST(HostPresets, clock_and_caches_are_in_order) {
  for (const HostPreset& host : host_presets()) {
    EXPECT_GT(host.clock_ghz.low, 0.1) << host.name;
    EXPECT_LE(host.clock_ghz.low, host.clock_ghz.best) << host.name;
    EXPECT_LE(host.clock_ghz.best, host.clock_ghz.high) << host.name;
    EXPECT_LT(host.l1_bytes, host.l2_bytes) << host.name;
    EXPECT_LT(host.l2_bytes, host.l3_bytes) << host.name;
  }
}

template <class Presets>
void expect_named_and_described(const Presets& presets) {
  std::set<std::string_view> names;
  for (const auto& preset : presets) {
    EXPECT_TRUE(names.insert(preset.name).second) << preset.name;
    EXPECT_FALSE(preset.doc.empty()) << preset.name;
  }
}

TEST(Presets, have_names_of_their_own_and_a_line_of_text) {
  expect_named_and_described(host_presets());
  expect_named_and_described(kernel_presets());
}

TEST(Presets, are_found_by_name) {
  for (const HostPreset& host : host_presets()) EXPECT_EQ(&find_host(host.name), &host);
  for (const KernelPreset& kernel : kernel_presets()) EXPECT_EQ(&find_kernel(kernel.name), &kernel);
}

template <class Find>
std::string refusal(Find find) {
  try {
    find();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

TEST(Presets, an_unknown_one_is_refused_with_all_names) {
  const std::string host = refusal([] { find_host("pentium"); });
  EXPECT_NE(host.find("host = \"pentium\""), std::string::npos) << host;
  for (const HostPreset& preset : host_presets())
    EXPECT_NE(host.find(preset.name), std::string::npos) << preset.name;
  const std::string kernel = refusal([] { find_kernel(""); });
  EXPECT_NE(kernel.find("kernel = \"\""), std::string::npos) << kernel;
  for (const KernelPreset& preset : kernel_presets())
    EXPECT_NE(kernel.find(preset.name), std::string::npos) << preset.name;
}

TEST(KernelPresets, switches_of_the_named_variants) {
  const KernelPreset& v5 = find_kernel("v5.0");
  EXPECT_TRUE(v5.smap && v5.nospec && !v5.copy_nospec && v5.retpoline && v5.kpti);
  EXPECT_FALSE(v5.hardened_usercopy);
  const KernelPreset& nosmap = find_kernel("v5.0-nosmap");
  EXPECT_TRUE(!nosmap.smap && nosmap.nospec && !nosmap.copy_nospec && nosmap.retpoline &&
              nosmap.kpti && !nosmap.hardened_usercopy);
  const KernelPreset& plain = find_kernel("v5.0-noretpoline");
  EXPECT_TRUE(plain.smap && plain.nospec && !plain.copy_nospec && !plain.retpoline && plain.kpti &&
              !plain.hardened_usercopy);
  EXPECT_TRUE(find_kernel("v5.0-hardened").hardened_usercopy);
  EXPECT_TRUE(find_kernel("v6.2").copy_nospec);
  EXPECT_FALSE(find_kernel("v5.0-page-refs").frag_bias);
  EXPECT_TRUE(v5.frag_bias);
  const KernelPreset& bare = find_kernel("bare");
  EXPECT_FALSE(bare.smap || bare.nospec || bare.copy_nospec || bare.retpoline || bare.kpti ||
               bare.hardened_usercopy);
}

}  // namespace
}  // namespace vringlab::sim
