#include "sim/cost/names.h"

#include <gtest/gtest.h>

#include <set>

namespace vringlab::sim {
namespace {

template <class Axis>
std::set<std::string_view> all_names(std::size_t count) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < count; ++i) names.insert(name(static_cast<Axis>(i)));
  return names;
}

TEST(Names, each_cost_has_its_own) {
  EXPECT_EQ(all_names<Cost>(kCosts).size(), kCosts);
  EXPECT_FALSE(all_names<Cost>(kCosts).contains(""));
}

TEST(Names, each_step_has_its_own) {
  EXPECT_EQ(all_names<Step>(kSteps).size(), kSteps);
  EXPECT_FALSE(all_names<Step>(kSteps).contains(""));
}

// The tables are written by hand in the order of the enumerators: the ends and a
// few in between show a name left out or doubled.
TEST(Names, follow_the_enumerators) {
  EXPECT_EQ(name(Cost::kStacClac), "stac_clac");
  EXPECT_EQ(name(Cost::kBarrierDrain), "barrier_drain");
  EXPECT_EQ(name(Cost::kHardenedUsercopy), "hardened_usercopy");
  EXPECT_EQ(name(Cost::kTransferRemote), "transfer_remote");
  EXPECT_EQ(name(Cost::kSendCall), "send_call");
  EXPECT_EQ(name(Cost::kGuestPoll), "guest_poll");
  EXPECT_EQ(name(Cost::kUnmodelled), "unmodelled");
  EXPECT_EQ(name(Step::kGuestFill), "guest_fill");
  EXPECT_EQ(name(Step::kSuppress), "suppress");
  EXPECT_EQ(name(Step::kPayloadCopy), "payload_copy");
  EXPECT_EQ(name(Step::kInvalidate), "invalidate");
  EXPECT_EQ(name(Step::kPacket), "packet");
}

}  // namespace
}  // namespace vringlab::sim
