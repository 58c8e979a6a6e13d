// SPDX-License-Identifier: Apache-2.0
// The stopping rule on a worked example of 60 step times (computed independently), and at its edges.
#include "bench/stopping/stopping.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "bench/stopping/mean_shift.hpp"

namespace gpusizer {
namespace {

const std::vector<double> kExample = {
    320.0, 297.4, 287.3, 277.1, 255.5, 244.5, 241.6, 235.1, 230.7, 223.0, 224.7, 223.1, 218.1, 219.0, 215.6,
    208.0, 209.1, 203.5, 208.1, 205.7, 203.8, 200.7, 206.8, 203.5, 200.8, 199.9, 202.9, 203.3, 203.6, 203.7,
    210.5, 202.9, 199.4, 196.8, 201.4, 205.3, 201.8, 197.5, 195.8, 201.0, 203.5, 203.6, 198.8, 200.5, 200.7,
    201.2, 204.0, 202.5, 203.7, 201.8, 201.9, 203.3, 195.5, 196.9, 196.9, 196.2, 197.4, 204.9, 198.5, 203.3};

std::vector<double> noisy(std::size_t steps, double mean, double spread) {
  std::mt19937 generator(7);
  std::normal_distribution<double> normal(mean, spread);
  std::vector<double> y(steps);
  for (double& value : y) value = normal(generator);
  return y;
}

TEST(WarmUp, WorkedExample) {
  const std::vector<double> expected = {50.0254, 10.0749, 3.3684, 0.5265, 0.2511, 0.2600, 0.2799};
  const auto curve = mser5_curve(kExample);
  ASSERT_EQ(curve.size(), expected.size());
  for (std::size_t d = 0; d < expected.size(); ++d) EXPECT_NEAR(curve[d], expected[d], 1e-4) << "d = " << d;
  const auto cut = mser5_cut(kExample);
  EXPECT_EQ(cut.steps, 20);
  EXPECT_TRUE(cut.judged);
  EXPECT_FALSE(cut.at_limit);
}

TEST(WarmUp, ShortSeriesAreNotJudged) {
  const auto cut = mser5_cut(std::span(kExample).first(19));
  EXPECT_EQ(cut.steps, 0);
  EXPECT_FALSE(cut.judged);
  EXPECT_TRUE(mser5_curve({}).empty());
}

TEST(WarmUp, ARisingSeriesEndsAtTheLimit) {
  std::vector<double> y;
  for (int i = 0; i < 100; ++i) y.push_back(100.0 - i * 0.9);
  EXPECT_TRUE(mser5_cut(y).at_limit);
}

TEST(Interval, WorkedExample) {
  const auto it = mean_interval(std::span(kExample).subspan(20));
  ASSERT_TRUE(it);
  EXPECT_EQ(it->samples, 40);
  EXPECT_NEAR(it->mean, 201.4125, 1e-4);
  EXPECT_NEAR(it->standard_deviation, 3.2344, 1e-4);
  EXPECT_NEAR(it->lag1, 0.3395, 1e-4);
  EXPECT_NEAR(it->lag1_corrected, 0.3984, 1e-4);
  EXPECT_NEAR(it->ar1_degrees, 16.207, 1e-3);
  EXPECT_NEAR(it->ar1_half_width, 1.6512, 1e-4);
  EXPECT_EQ(it->batch, 6);
  EXPECT_NEAR(it->batch_variance, 19.7637, 1e-4);
  EXPECT_NEAR(it->batch_degrees, 8.500, 1e-3);
  EXPECT_NEAR(it->batch_half_width, 1.6045, 1e-4);
  EXPECT_NEAR(it->half_width, 1.6512, 1e-4);
  EXPECT_NEAR(100 * it->relative(), 0.8198, 1e-4);
}

TEST(Interval, FewSamplesGiveAWideOneAndOneSampleNone) {
  EXPECT_FALSE(mean_interval(std::vector{1.0}));
  const auto two = mean_interval(std::vector{1.0, 1.1});
  ASSERT_TRUE(two);
  EXPECT_GT(two->half_width, 0.5);  // t with one degree of freedom: 12.7 times the standard error
  const auto three = mean_interval(std::vector{1.0, 1.1, 1.05});
  EXPECT_LT(three->half_width, two->half_width);
}

TEST(Interval, AConstantSeriesIsExact) {
  const auto it = mean_interval(std::vector<double>(50, 0.25));
  EXPECT_EQ(it->mean, 0.25);
  EXPECT_EQ(it->half_width, 0.0);
}

TEST(SteadyState, StallsStayInTheMeanButOutOfTheCore) {
  auto y = noisy(200, 100, 1);
  y[120] = y[170] = 300;
  const auto state = find_steady_state(y, 1);
  EXPECT_EQ(state.stalls.stalls, 2);
  EXPECT_NEAR(state.stall_mean_seconds, 300, 1e-9);
  EXPECT_NEAR(state.core->mean, 100, 0.3);
  double sum = 0;
  for (auto i = static_cast<std::size_t>(state.steps_discarded); i < y.size(); ++i) sum += y[i];
  EXPECT_NEAR(state.mean_step->seconds, sum / static_cast<double>(200 - state.steps_discarded), 1e-9);
  EXPECT_LT(state.mean_step->low, state.mean_step->seconds);
  EXPECT_GT(state.mean_step->high, 102);  // up to 7.2 stalls of 200 cannot be excluded
}

TEST(SteadyState, SaysWhyThereIsNoNumber) {
  EXPECT_NE(find_steady_state({}, 1).reason, "");
  const auto one = find_steady_state(std::vector{1.0, 0.5}, 1);
  EXPECT_FALSE(one.mean_step);
  EXPECT_NE(one.reason.find("at least 2"), std::string::npos);
  const auto frozen = find_steady_state(std::vector<double>(40, 0.0), 1);
  EXPECT_FALSE(frozen.mean_step);
  EXPECT_FALSE(frozen.relative_half_width());
}

TEST(Stalls, ExactPoissonLimit) {
  EXPECT_NEAR(stall_rate(0, 60).high, 3.688879 / 60, 1e-6);  // chi2_{0.975,2}/2
  EXPECT_EQ(stall_rate(0, 60).low, 0.0);
  EXPECT_NEAR(stall_rate(1, 100).high, 5.571643 / 100, 1e-6);
  EXPECT_NEAR(stall_rate(1, 100).low, 0.025318 / 100, 1e-6);
  EXPECT_EQ(stall_rate(0, 0).high, 0.0);
}

TEST(Stalls, AFlatSeriesHasNone) {
  auto y = std::vector<double>(50, 0.1);
  y[20] = std::nextafter(0.1, 1.0);
  EXPECT_TRUE(split_stalls(y).stalls.empty());
  y[30] = 0.2;
  EXPECT_EQ(split_stalls(y).stalls.size(), 1u);
  EXPECT_TRUE(split_stalls(std::vector{1.0, 1.0, 1.0, 9.0}).stalls.empty());  // too few to call one an outlier
}

TEST(Stopping, GridGrowsByAQuarter) {
  EXPECT_EQ(next_check_after(50), 63);
  EXPECT_EQ(next_check_after(63), 79);
  EXPECT_EQ(next_check_after(80), 100);
  EXPECT_EQ(next_check_after(1), 2);
}

TEST(Stopping, WorkedExampleStopsAtTheFirstCheck) {
  Stopping stopping({.precision_target = 0.01, .fixed_warm_up = 0});
  for (std::size_t i = 0; i < 49; ++i) ASSERT_EQ(stopping.add(kExample[i] / 1000), Verdict::keep_going);
  EXPECT_EQ(stopping.add(kExample[49] / 1000), Verdict::precise);
}

TEST(Stopping, SlowStepsAreCheckedAtThirty) {
  Stopping slow({.fixed_warm_up = 1}), fast({.fixed_warm_up = 1});
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(slow.add(2.5), Verdict::keep_going);
    EXPECT_EQ(fast.add(0.5), Verdict::keep_going);
  }
  EXPECT_EQ(slow.add(2.5), Verdict::precise);
  EXPECT_EQ(fast.add(0.5), Verdict::keep_going);
}

TEST(Stopping, NoiseIsMeasuredLonger) {
  Stopping stopping({.precision_target = 0.02});
  std::int64_t steps = 0;
  for (double y : noisy(5000, 100, 20)) {
    ++steps;
    if (stopping.add(y) == Verdict::precise) break;
  }
  EXPECT_GT(steps, 300);  // 20 % noise needs about (1.96 * 0.2 / 0.02)^2 = 384 steps
  EXPECT_LT(steps, 1500);
  EXPECT_LE(*stopping.state().relative_half_width(), 0.02);
}

TEST(Stopping, AnEndlessWarmUpHasNoSteadyState) {
  Stopping stopping({});
  Verdict verdict = Verdict::keep_going;
  int steps = 0;
  for (; verdict == Verdict::keep_going && steps < 3000; ++steps) verdict = stopping.add(1.0 / (1 + 0.01 * steps));
  EXPECT_EQ(verdict, Verdict::no_steady_state);
  EXPECT_GE(steps, 400);
}

TEST(Stopping, RefusesWhatIsNoTime) {
  Stopping stopping({});
  EXPECT_THROW(stopping.add(-1), std::invalid_argument);
  EXPECT_THROW(stopping.add(std::numeric_limits<double>::quiet_NaN()), std::invalid_argument);
}

TEST(MeanShift, FindsTheStepOfTheWorkedHistory) {
  const std::vector<double> y = {982.6,  986.6, 986.4,  996.5, 976.9,  998.1, 990.4, 1008.9, 1009.6, 1013.9, 1007.7, 999.5,
                                 1008.6, 1015.1, 993.5, 1006.1, 969.6, 984.4, 961.6, 967.0,  973.6,  972.6,  953.6,  973.6};
  const auto shift = find_mean_shift(y);
  ASSERT_TRUE(shift);
  EXPECT_EQ(shift->at, 16);
  EXPECT_NEAR(shift->statistic, 6.1287, 1e-4);
  EXPECT_NEAR(shift->before_mean, 998.775, 1e-3);
  EXPECT_NEAR(shift->after_mean, 969.500, 1e-3);
  EXPECT_FALSE(find_mean_shift(std::span(y).first(16)));
}

TEST(MeanShift, SilentOnNoiseAndOnFewSamples) {
  EXPECT_FALSE(find_mean_shift(noisy(300, 100, 3)));
  EXPECT_FALSE(find_mean_shift(std::vector{1.0, 1.0, 1.0, 2.0, 2.0, 2.0}));
  EXPECT_FALSE(find_mean_shift(std::vector<double>(100, 1.0)));
}

}  // namespace
}  // namespace gpusizer
