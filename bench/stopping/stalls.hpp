// SPDX-License-Identifier: Apache-2.0
// Rare, very slow steps (a checkpoint, a late data loader) are set apart, counted and given a rate with a limit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gpusizer {

struct StallSplit {
  std::vector<double> core;    // the steps that are no stalls, in their order
  std::vector<double> stalls;  // the others, in their order
};

// Below this many steps the outer tenths are single values, and nothing is called a stall.
constexpr std::int64_t kStallSmallestSeries = 10;

// A stall is y > median + 3 (p90 - p10), the outlier rule of the warm-up study by Barrett et al. (OOPSLA 2017). Where the
// spread is as small as the clock's grain, a stall must also exceed the median by a millionth.
StallSplit split_stalls(std::span<const double> step_seconds);

// Stalls per step: k of n, with the exact two-sided 95 % limits of a Poisson count:
//   low = chi2_{0.025, 2k}/(2n) (0 when k = 0), high = chi2_{0.975, 2(k+1)}/(2n)
struct StallRate {
  std::int64_t stalls = 0;
  std::int64_t steps = 0;
  double rate = 0, low = 0, high = 0;
};
StallRate stall_rate(std::int64_t stalls, std::int64_t steps);

}  // namespace gpusizer
