// SPDX-License-Identifier: Apache-2.0
// Descriptive statistics on examples that can be checked by hand.
#include "reports/record/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "gpusizer/error.hpp"

namespace gpusizer::record {
namespace {

const std::vector<double> values = {4, 1, 3, 2};

TEST(Statistics, WorkedExample) {
  EXPECT_DOUBLE_EQ(mean(values), 2.5);
  EXPECT_DOUBLE_EQ(minimum(values), 1);
  EXPECT_DOUBLE_EQ(maximum(values), 4);
  EXPECT_DOUBLE_EQ(median(values), 2.5);
  EXPECT_DOUBLE_EQ(standard_deviation(values), std::sqrt(5.0 / 3));
}

TEST(Statistics, QuantilesInterpolateBetweenRanks) {
  EXPECT_DOUBLE_EQ(quantile(values, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(values, 1), 4);
  EXPECT_DOUBLE_EQ(quantile(values, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(quantile(values, 0.95), 3.85);
  EXPECT_DOUBLE_EQ(quantile(std::vector<double>{7}, 0.95), 7);
}

TEST(Statistics, TheMeanOfALongSeriesKeepsItsDigits) {
  EXPECT_EQ(mean(std::vector<double>(1'000'000, 0.1)), 0.1);
  EXPECT_EQ(mean(std::vector<double>{1e100, 1.0, -1e100}), 1.0 / 3);
}

TEST(Statistics, NothingHasNoStatistics) {
  EXPECT_THROW(mean({}), Error);
  EXPECT_THROW(minimum({}), Error);
  EXPECT_THROW(maximum({}), Error);
  EXPECT_THROW(quantile({}, 0.5), Error);
  EXPECT_THROW(standard_deviation(std::vector<double>{1}), Error);
  EXPECT_THROW(quantile(values, 1.1), Error);
  EXPECT_THROW(quantile(values, std::nan("")), Error);
}

TEST(Statistics, SummaryLeavesWarmUpOut) {
  Measurement m;
  m.step_seconds = {9, 9, 1, 2, 3};
  m.warmup_steps = 2;
  fill_step_summary(m);
  EXPECT_EQ(m.mean_step_seconds, Maybe<double>(2.0));
  EXPECT_EQ(m.p50_step_seconds, Maybe<double>(2.0));
  EXPECT_EQ(m.p95_step_seconds, Maybe<double>(2.9));
  EXPECT_EQ(m.sd_step_seconds, Maybe<double>(1.0));
}

TEST(Statistics, SummaryOfTooFewStepsIsMissing) {
  Measurement m;
  m.step_seconds = {9, 9, 1};
  m.warmup_steps = 2;
  fill_step_summary(m);
  EXPECT_EQ(m.mean_step_seconds, Maybe<double>(1.0));
  EXPECT_EQ(m.sd_step_seconds.null_reason(), "only 1 measured steps");
  m.warmup_steps = 3;
  fill_step_summary(m);
  EXPECT_EQ(m.p95_step_seconds.null_reason(), "only 0 measured steps");
}

}  // namespace
}  // namespace gpusizer::record
