// SPDX-License-Identifier: Apache-2.0
// Worked examples of change points, and seeded simulations of how often they are false or late.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "ci/changepoint/energy.hpp"
#include "ci/changepoint/segmentation.hpp"

namespace gpusizer::ci {
namespace {

// A throughput that falls by 3 % after 16 runs.
const std::vector<double> kDrop = {982.6,  986.6,  986.4, 996.5,  976.9,  998.1, 990.4,  1008.9, 1009.6, 1013.9, 1007.7, 999.5,
                                   1008.6, 1015.1, 993.5, 1006.1, 969.6,  984.4, 961.6,  967.0,  973.6,  972.6,  953.6,  973.6};

TEST(Segmentation, WorkedExample) {
  const auto points = find_change_points(kDrop);
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(points[0].at, 16u);
  EXPECT_NEAR(points[0].t, 6.1287, 1e-4);
  EXPECT_NEAR(points[0].limit, 4.810, 1e-9);
  EXPECT_NEAR(points[0].before, 998.775, 1e-9);
  EXPECT_NEAR(points[0].after, 969.500, 1e-9);
  EXPECT_NEAR(100 * points[0].change(), -2.9311, 1e-4);
}

TEST(Segmentation, IsSilentOnTheFirstSixteen) {
  const auto before = std::span(kDrop).first(16);
  EXPECT_TRUE(find_change_points(before).empty());
  EXPECT_EQ(strongest_split(before).at, 7u);  // where a plain t test at the best place raises a false alarm
}

TEST(Energy, WorkedExample) {
  const EnergySplit split = strongest_energy_split(kDrop);
  EXPECT_EQ(split.at, 16u);
  EXPECT_EQ(split.end, 24u);
  EXPECT_NEAR(split.q, 183.0052, 1e-4);
}

TEST(CriticalT, IsTheTableAndBetweenItsRows) {
  EXPECT_EQ(critical_t(24), 4.810);
  EXPECT_NEAR(critical_t(27), (4.810 + 4.717) / 2, 1e-12);
  EXPECT_EQ(critical_t(500), 4.340);
  EXPECT_TRUE(std::isinf(critical_t(7)));
}

TEST(Segmentation, OfTooFewOrEqualRunsIsEmpty) {
  EXPECT_TRUE(find_change_points({}).empty());
  EXPECT_TRUE(find_change_points(std::vector<double>{1, 2, 3, 4, 5, 6, 7}).empty());
  EXPECT_TRUE(find_change_points(std::vector<double>(50, 0.1)).empty());
  EXPECT_TRUE(find_change_points(std::vector<double>(50, 0.0)).empty());
}

TEST(Segmentation, FindsSeveralLevelsAndImprovements) {
  std::vector<double> series;
  for (int i = 0; i < 60; ++i) series.push_back((i < 20 ? 100 : i < 40 ? 90 : 95) + std::sin(i * i));
  const auto points = find_change_points(series);
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].at, 20u);
  EXPECT_LT(points[0].change(), 0);
  EXPECT_EQ(points[1].at, 40u);
  EXPECT_GT(points[1].change(), 0);
}

TEST(Segmentation, LeavesASingleBadRunAlone) {
  std::vector<double> series;
  for (int i = 0; i < 40; ++i) series.push_back((i == 25 ? 60 : 100) + std::sin(i * i));
  EXPECT_TRUE(find_change_points(series).empty());
}

TEST(Segmentation, ShiftsBelowOnePercentAreNotWorthAWord) {
  std::vector<double> series;
  for (int i = 0; i < 60; ++i) series.push_back((i < 30 ? 100 : 100.8) + 0.1 * std::sin(i * i));
  EXPECT_TRUE(find_change_points(series).empty());
}

// A level of runs with 1 % noise of three kinds, and after `step_at` a level 3 % higher.
enum class Noise { normal, heavy, alike };

std::vector<double> simulated(Noise noise, std::size_t runs, std::size_t step_at, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::student_t_distribution<double> heavy(4);
  std::vector<double> series;
  double last = normal(random);
  for (std::size_t i = 0; i < runs; ++i) {
    if (noise == Noise::alike) last = 0.3 * last + std::sqrt(1 - 0.09) * normal(random);
    const double unit = noise == Noise::normal ? normal(random) : noise == Noise::heavy ? heavy(random) / std::sqrt(2.0) : last;
    series.push_back((i < step_at ? 100 : 103) * std::exp(0.01 * unit));
  }
  return series;
}

// What a nightly job does: after each push it looks at the last 100 runs. A point within 5 runs of a known one is known.
std::vector<std::size_t> pushes_with_an_alarm(const std::vector<double>& series) {
  std::vector<std::size_t> known, alarms;
  for (std::size_t push = 8; push <= series.size(); ++push) {
    const std::size_t from = push > 100 ? push - 100 : 0;
    for (const ChangePoint& point : find_change_points(std::span(series).subspan(from, push - from))) {
      const std::size_t at = from + point.at;
      const auto near = [&](std::size_t k) { return std::max(k, at) - std::min(k, at) <= 5; };
      if (std::any_of(known.begin(), known.end(), near)) continue;
      known.push_back(at);
      alarms.push_back(push);
    }
  }
  return alarms;
}

double false_alarms_per_thousand(Noise noise) {
  std::mt19937_64 random(20260131);
  constexpr std::size_t kSeries = 120, kPushes = 200;
  std::size_t alarms = 0;
  for (std::size_t i = 0; i < kSeries; ++i) alarms += pushes_with_an_alarm(simulated(noise, kPushes, kPushes, random)).size();
  return 1000.0 * static_cast<double>(alarms) / static_cast<double>(kSeries * kPushes);
}

double share_found_within_ten(Noise noise) {
  std::mt19937_64 random(7);
  constexpr std::size_t kSeries = 300, kStep = 100;
  std::size_t found = 0;
  for (std::size_t i = 0; i < kSeries; ++i) {
    const auto alarms = pushes_with_an_alarm(simulated(noise, kStep + 10, kStep, random));
    found += std::any_of(alarms.begin(), alarms.end(), [&](std::size_t push) { return push > kStep; });
  }
  return static_cast<double>(found) / static_cast<double>(kSeries);
}

TEST(Simulation, FalseAlarmsPerThousandPushes) {
  const double normal = false_alarms_per_thousand(Noise::normal), heavy = false_alarms_per_thousand(Noise::heavy),
               alike = false_alarms_per_thousand(Noise::alike);
  RecordProperty("normal", std::to_string(normal));
  RecordProperty("heavy", std::to_string(heavy));
  RecordProperty("alike", std::to_string(alike));
  EXPECT_LE(normal, 1.0);
  EXPECT_LE(heavy, 2.0);
  EXPECT_LE(alike, 2.0);
}

TEST(Simulation, AStepOfThreePercentIsFoundWithinTenPushes) {
  for (const Noise noise : {Noise::normal, Noise::heavy, Noise::alike}) {
    const double share = share_found_within_ten(noise);
    RecordProperty("share" + std::to_string(static_cast<int>(noise)), std::to_string(share));
    EXPECT_GE(share, 0.97) << static_cast<int>(noise);
  }
}

}  // namespace
}  // namespace gpusizer::ci
