// SPDX-License-Identifier: Apache-2.0
// Seeded simulation of the staged test: how often unchanged code alarms, how often 3 % are found, and what it costs.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "ci/compare/decide.hpp"

namespace gpusizer::ci {
namespace {

// The mean of 200 steps with 5 % noise each, in a run that is off by 1 % as a whole.
double run_mean(double change, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  return 0.1 * std::exp(change + 0.01 * normal(random) + 0.05 / std::sqrt(200.0) * normal(random));
}

struct Outcome {
  double alarms = 0, runs = 0;  // per comparison
};

Outcome simulate(double change, int comparisons) {
  std::mt19937_64 random(20260131);
  int alarms = 0, runs = 0;
  for (int i = 0; i < comparisons; ++i) {
    std::vector<double> base, fresh;
    for (int h = 0; h < 30; ++h) base.push_back(run_mean(0, random));
    Judgement judgement;
    const auto judged = [&](int more) {
      for (int k = 0; k < more; ++k) fresh.push_back(run_mean(std::log1p(change), random));
      decide({.base = base, .fresh = fresh, .better = record::Better::lower}, {}, judgement);
    };
    judged(1);
    if (judgement.reason == "needs_more_runs" && *judgement.change > 0) judged(4);
    runs += static_cast<int>(fresh.size());
    alarms += judgement.verdict == Verdict::regressed;
  }
  return {static_cast<double>(alarms) / comparisons, static_cast<double>(runs) / comparisons};
}

TEST(StagedSimulation, UnchangedCodeHardlyEverAlarms) {
  const Outcome outcome = simulate(0, 20000);
  RecordProperty("per_thousand", std::to_string(1000 * outcome.alarms));
  RecordProperty("runs", std::to_string(outcome.runs));
  EXPECT_LE(1000 * outcome.alarms, 1.5);
  EXPECT_LE(outcome.runs, 2.0);
}

TEST(StagedSimulation, ThreePercentAreFound) {
  const Outcome outcome = simulate(0.03, 5000);
  RecordProperty("found", std::to_string(outcome.alarms));
  EXPECT_GE(outcome.alarms, 0.95);
}

}  // namespace
}  // namespace gpusizer::ci
