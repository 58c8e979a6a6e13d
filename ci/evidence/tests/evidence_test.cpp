// SPDX-License-Identifier: Apache-2.0
// Worked examples of the statistics: tables of Student's t, the staged test, corrections, the rank test.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ci/evidence/corrections.hpp"
#include "ci/evidence/rank_test.hpp"
#include "ci/evidence/runs_test.hpp"
#include "ci/evidence/student_t.hpp"
#include "gpusizer/error.hpp"

namespace gpusizer::ci {
namespace {

std::vector<double> logs(std::vector<double> values) {
  for (double& value : values) value = std::log(value);
  return values;
}

const std::vector<double> kHistory = {101.2, 99.8,  100.5, 98.9, 100.1, 101.0, 99.4,  100.7, 99.9, 100.3,
                                      98.8,  101.5, 100.2, 99.6, 100.9, 99.1,  100.4, 100.0, 99.7, 101.1};

TEST(StudentT, IsTheTableOfEveryTextbook) {
  EXPECT_NEAR(student_t_limit(0.025, 9), 2.262157, 1e-6);
  EXPECT_NEAR(student_t_limit(0.001, 19), 3.579400, 1e-6);
  EXPECT_NEAR(student_t_limit(0.0005, 98), 3.393, 6e-4);
  EXPECT_NEAR(student_t_limit(0.975, 1), -12.706205, 1e-6);
  EXPECT_NEAR(student_t_above(0, 5), 0.5, 1e-15);
  EXPECT_NEAR(student_t_above(-1.0, 1), 0.75, 1e-12);
  EXPECT_EQ(student_t_above(INFINITY, 3), 0);
}

TEST(StudentT, HasNoAnswerWithoutFreedom) {
  EXPECT_THROW(student_t_above(1, 0), Error);
  EXPECT_THROW(student_t_limit(0, 5), Error);
}

TEST(StagedTest, WorkedExample) {
  const auto history = logs(kHistory);
  const RunsTest one = test_against_history(history, logs({102.9}), 0);
  EXPECT_NEAR(one.base_mean, 4.606691, 1e-6);
  EXPECT_NEAR(one.noise, 0.007733, 1e-6);
  EXPECT_NEAR(one.t, 3.4157, 1e-4);
  EXPECT_NEAR(one.p_above, 0.00145, 1e-5);
  const RunsTest five = test_against_history(history, logs({102.9, 103.4, 102.2, 103.0, 103.6}), 0);
  EXPECT_NEAR(five.new_mean, 4.634912, 1e-6);
  EXPECT_NEAR(five.t, 7.2987, 1e-4);
  EXPECT_NEAR(five.p_above, 3.184e-07, 1e-10);
  EXPECT_NEAR(100 * std::expm1(five.shift), 2.862, 1e-3);
  EXPECT_NEAR(100 * std::expm1(five.low), 2.033, 1e-3);
  EXPECT_NEAR(100 * std::expm1(five.high), 3.698, 1e-3);
}

// Smallest change seen with h = 30 runs of history at the level .001 with power .95.
TEST(SmallestVisibleShift, WorkedExamples) {
  const auto shift = [](double noise, std::size_t k) {
    RunsTest test{.base_runs = 30, .new_runs = k, .noise = noise, .freedom = 29};
    test.error = noise * std::sqrt(1.0 / static_cast<double>(k) + 1.0 / 30.0);
    return 100 * smallest_visible_shift(test);
  };
  EXPECT_NEAR(shift(0.005, 1), 2.59, 0.005);
  EXPECT_NEAR(shift(0.005, 3), 1.54, 0.005);
  EXPECT_NEAR(shift(0.01, 1), 5.18, 0.005);
  EXPECT_NEAR(shift(0.01, 5), 2.46, 0.005);
  EXPECT_NEAR(shift(0.02, 10), 3.72, 0.005);
  EXPECT_NEAR(shift(0.05, 1), 25.9, 0.05);
}

TEST(Pooled, UsesBothSides) {
  const RunsTest test = test_pooled(std::vector<double>{1, 2, 3, 4}, std::vector<double>{3, 4, 5, 6}, 0);
  EXPECT_EQ(test.freedom, 6);
  EXPECT_NEAR(test.noise, 1.2909944, 1e-6);
  EXPECT_NEAR(test.t, 2.1908902, 1e-6);
}

TEST(Noise, IsNotTouchedByALevelShift) {
  std::vector<double> series;
  for (int i = 0; i < 40; ++i) series.push_back((i < 20 ? 100.0 : 200.0) + std::sin(i * i));
  EXPECT_NEAR(noise_of_neighbours(series), 0.7, 0.35);  // a sine at scattered places has the sd 0.71
}

TEST(Noise, OfCopiesIsTheFloor) {
  const std::vector<double> copies(20, 4.0);
  const RunsTest test = test_against_history(copies, std::vector<double>{4.0}, 0.001);
  EXPECT_EQ(test.noise, 0.001);
  EXPECT_EQ(test.t, 0);
  EXPECT_EQ(count_outliers(copies, 4), 0u);
}

TEST(Outliers, AreCounted) {
  std::vector<double> values = kHistory;
  EXPECT_EQ(count_outliers(values, 4), 0u);
  values.push_back(120);
  EXPECT_EQ(count_outliers(values, 4), 1u);
}

TEST(Corrections, WorkedExample) {
  const std::vector<double> p = {.0004, .003, .012, .021, .04, .2, .5, .8};
  const auto count = [](const std::vector<bool>& stand) { return std::count(stand.begin(), stand.end(), true); };
  EXPECT_EQ(count(benjamini_hochberg(p, .05)), 4);
  EXPECT_EQ(count(holm(p, .05)), 2);
  EXPECT_EQ(count(holm({}, .05)), 0);
}

TEST(Corrections, KeepTheOrderOfTheirInput) {
  const std::vector<double> p = {.5, .0004, .8};
  EXPECT_EQ(holm(p, .05), (std::vector<bool>{false, true, false}));
}

TEST(RankTest, WorkedExample) {
  const std::vector<double> low = {1, 2, 3, 4, 5, 6, 7, 8, 9}, high = {11, 12, 13, 14, 15, 16, 17, 18, 19};
  EXPECT_NEAR(*rank_test(low, high), 4.1135e-05, 1e-9);
  EXPECT_NEAR(*rank_test(high, low), 4.1135e-05, 1e-9);
  EXPECT_EQ(*rank_test(low, low), 1.0);
  const std::vector<double> four = {1, 2, 3, 4}, more = {5, 6, 7, 8};
  EXPECT_NEAR(*rank_test(four, more), 2.0 / 70, 1e-12);
}

TEST(RankTest, RefusesFewRepetitions) {
  EXPECT_FALSE(rank_test(std::vector<double>{1, 2, 3}, std::vector<double>{4, 5, 6}));
}

}  // namespace
}  // namespace gpusizer::ci
