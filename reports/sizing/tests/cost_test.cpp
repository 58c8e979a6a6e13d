// SPDX-License-Identifier: Apache-2.0
// Tests of time and money on worked examples.
#include "reports/sizing/cost.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gpusizer/error.hpp"

namespace gpusizer::sizing {
namespace {

// An epoch of ImageNet on 8 GPUs of 2,500 images/s at 32.77 USD per hour.
TEST(Cost, AnEpochOfImageNet) {
  const Interval seconds = seconds_for(1'281'167, {8 * 2500.0, std::nullopt, std::nullopt});
  EXPECT_NEAR(seconds.value, 64.058, 5e-4);
  EXPECT_NEAR(usd_for(seconds.value, 32.77), 0.58311, 5e-6);
  EXPECT_FALSE(seconds.low || seconds.high);
}

TEST(Cost, ALowRateIsALongTime) {
  const Interval seconds = seconds_for(1000, {100, 80, 125});
  EXPECT_DOUBLE_EQ(seconds.value, 10);
  EXPECT_DOUBLE_EQ(*seconds.low, 8);
  EXPECT_DOUBLE_EQ(*seconds.high, 12.5);
}

TEST(Cost, ARateBoundAtZeroBoundsNothing) {
  const Interval seconds = seconds_for(1000, {100, 0, 125});
  EXPECT_FALSE(seconds.high);
  EXPECT_DOUBLE_EQ(*seconds.low, 8);
  EXPECT_EQ(within(seconds, 1e9), Verdict::uncertain);
}

TEST(Cost, RefusesWhatIsNoRateOrPrice) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  for (double bad : {0.0, -1.0, nan, infinity}) {
    EXPECT_THROW(seconds_for(1000, {bad, std::nullopt, std::nullopt}), Error) << bad;
    EXPECT_THROW(seconds_for(bad, {100, std::nullopt, std::nullopt}), Error) << bad;
    EXPECT_THROW(usd_for(3600, bad), Error) << bad;
  }
}

// 4,000 s and 45 s at 32.77 USD per hour, by the granularity of the bill.
TEST(Cost, BilledTimeIsRoundedAsTheCloudDoes) {
  EXPECT_NEAR(usd_for(billed_seconds(4000, 0, 1), 32.77), 36.4111, 5e-5);
  EXPECT_NEAR(usd_for(billed_seconds(4000, 0, 60), 32.77), 36.5932, 1e-4);
  EXPECT_NEAR(usd_for(billed_seconds(4000, 0, 3600), 32.77), 65.54, 1e-9);
  EXPECT_NEAR(usd_for(billed_seconds(45, 60, 1), 32.77), 0.5462, 5e-5);
  EXPECT_NEAR(usd_for(billed_seconds(45, 0, 3600), 32.77), 32.77, 1e-9);
}

TEST(Cost, AVerdictNeedsTheWholeInterval) {
  const Interval seconds{100, 90, 110};
  EXPECT_EQ(within(seconds, 110), Verdict::yes);
  EXPECT_EQ(within(seconds, 105), Verdict::uncertain);
  EXPECT_EQ(within(seconds, 95), Verdict::uncertain);
  EXPECT_EQ(within(seconds, 90), Verdict::uncertain);
  EXPECT_EQ(within(seconds, 89.9), Verdict::no);
  EXPECT_EQ(within({100, std::nullopt, std::nullopt}, 1e9), Verdict::uncertain);
}

}  // namespace
}  // namespace gpusizer::sizing
