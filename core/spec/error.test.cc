#include "core/spec/error.h"

#include <gtest/gtest.h>

#include <set>

namespace vringlab {
namespace {

TEST(RingErrorName, is_distinct_and_not_empty) {
  const auto count = static_cast<std::size_t>(RingError::kCount);
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < count; ++i) names.insert(describe(static_cast<RingError>(i)));
  EXPECT_EQ(names.size(), count);
  EXPECT_FALSE(names.contains(""));
  EXPECT_FALSE(names.contains("unknown"));
}

TEST(RingErrorName, unknown_for_what_is_no_error) {
  EXPECT_EQ(describe(RingError::kCount), "unknown");
  EXPECT_EQ(describe(static_cast<RingError>(255)), "unknown");
}

TEST(RingErrorName, stands_in_the_order_of_the_values) {
  EXPECT_EQ(describe(RingError::kNone), "none");
  EXPECT_EQ(describe(RingError::kChainTooLong), "chain too long");
  EXPECT_EQ(describe(RingError::kUsedLength), "used length");
  EXPECT_EQ(describe(RingError::kQueueBroken), "queue broken");
}

TEST(ResultOf, holds_a_value_or_an_error) {
  const Result<int> value = 5;
  const Result<int> error = RingError::kRingFull;
  EXPECT_TRUE(value.ok());
  EXPECT_EQ(value.value(), 5);
  EXPECT_FALSE(error.ok());
  EXPECT_EQ(error.error(), RingError::kRingFull);
}

}  // namespace
}  // namespace vringlab
