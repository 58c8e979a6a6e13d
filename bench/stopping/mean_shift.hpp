// SPDX-License-Identifier: Apache-2.0
// Did the machine change its pace in the middle of a run? One step in the mean of the step times, if there is one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace gpusizer {

struct MeanShift {
  std::int64_t at = 0;  // the first sample of the second regime
  double before_mean = 0, after_mean = 0;
  double statistic = 0, limit = 0;
};

// The split k with the largest T(k) = |m1 - m2| / (s_p sqrt(1/k + 1/(n-k))), at least four samples on each side, if T is
// above the 0.1 % limit for the *best* split (simulated critical values; a plain t quantile would be far too low), raised
// by sqrt((1+r)/(1-r)) for autocorrelated samples. Nothing below 8 samples, or for a shift below `smallest_change`.
std::optional<MeanShift> find_mean_shift(std::span<const double> y, double smallest_change = 0.01);

}  // namespace gpusizer
