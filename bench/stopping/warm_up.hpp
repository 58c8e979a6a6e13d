// SPDX-License-Identifier: Apache-2.0
// Where does the steady state begin? MSER-5 finds it afterwards, from the step times alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gpusizer {

// MSER(d) for d = 0..floor(k/2), over the means z of k = floor(n/5) batches of five consecutive steps:
//   MSER(d) = sum_{i>d} (z_i - mean_{j>d} z_j)^2 / (k-d)^2
// Source: White's marginal standard error rule in its batched form (Hoad et al. 2008 compare it with others).
std::vector<double> mser5_curve(std::span<const double> step_seconds);

struct WarmUpCut {
  std::int64_t steps = 0;  // how many leading steps are warm-up
  // False: too few steps for the rule; then nothing was cut and nobody knows whether the state is steady.
  bool judged = false;
  // The minimum lies at the limit of the search (half of the series): the run is not yet in a steady state.
  bool at_limit = false;
};

// With fewer than four batches every series looks best with all but one of them cut, so the rule is not asked.
constexpr std::int64_t kMserSmallestSeries = 20;

WarmUpCut mser5_cut(std::span<const double> step_seconds);

}  // namespace gpusizer
