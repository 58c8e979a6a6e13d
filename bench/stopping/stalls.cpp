// SPDX-License-Identifier: Apache-2.0
// Splits stalls from ordinary steps and bounds their rate.
#include "bench/stopping/stalls.hpp"

#include <algorithm>

#include "reports/record/distributions.hpp"
#include "reports/record/statistics.hpp"

namespace gpusizer {
namespace {

constexpr double kClockGrain = 1e-6;  // of the median

double stall_threshold(std::span<const double> y) {
  const double median = record::median(y);
  const double spread = record::quantile(y, 0.9) - record::quantile(y, 0.1);
  return median + std::max(3 * spread, kClockGrain * median);
}

}  // namespace

StallSplit split_stalls(std::span<const double> step_seconds) {
  StallSplit split;
  if (static_cast<std::int64_t>(step_seconds.size()) < kStallSmallestSeries) {
    split.core.assign(step_seconds.begin(), step_seconds.end());
    return split;
  }
  const double threshold = stall_threshold(step_seconds);
  for (double y : step_seconds) (y > threshold ? split.stalls : split.core).push_back(y);
  return split;
}

StallRate stall_rate(std::int64_t stalls, std::int64_t steps) {
  StallRate it{.stalls = stalls, .steps = steps};
  if (steps == 0) return it;
  const auto n = static_cast<double>(steps), k = static_cast<double>(stalls);
  it.rate = k / n;
  it.low = stalls == 0 ? 0.0 : record::chi_square_quantile(0.025, 2 * k) / (2 * n);
  it.high = record::chi_square_quantile(0.975, 2 * (k + 1)) / (2 * n);
  return it;
}

}  // namespace gpusizer
