// SPDX-License-Identifier: Apache-2.0
// The max-t test for one change of the mean.
#include "bench/stopping/mean_shift.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "bench/stopping/interval.hpp"

namespace gpusizer {
namespace {

constexpr std::size_t kSmallestSide = 4;

// c_.001(n): the value that max T of n independent samples exceeds in one series of a thousand (200,000 simulated).
struct Critical {
  double samples, limit;
};
constexpr std::array kCritical = {Critical{8, 6.020},   Critical{10, 5.947},  Critical{12, 5.682}, Critical{15, 5.344},
                                  Critical{20, 4.932},  Critical{24, 4.810},  Critical{30, 4.717}, Critical{40, 4.560},
                                  Critical{60, 4.415},  Critical{80, 4.375},  Critical{100, 4.351}, Critical{150, 4.366},
                                  Critical{200, 4.366}};

double critical_value(double n) {
  const auto above =
      std::find_if(kCritical.begin(), kCritical.end(), [&](const Critical& row) { return row.samples >= n; });
  if (above == kCritical.begin()) return above->limit;
  if (above == kCritical.end()) return kCritical.back().limit;
  const auto below = above - 1;
  return std::lerp(below->limit, above->limit, (n - below->samples) / (above->samples - below->samples));
}

// Means and T at each split, by running sums around the overall mean so that nothing is lost to cancellation.
MeanShift best_split(std::span<const double> y) {
  const auto n = static_cast<double>(y.size());
  double total = 0, squares = 0, left = 0;
  for (double value : y) total += value;
  const double mean = total / n;
  for (double value : y) squares += (value - mean) * (value - mean);
  MeanShift best;
  for (std::size_t i = 0; i + kSmallestSide < y.size(); ++i) {
    left += y[i] - mean;
    const auto k = static_cast<double>(i + 1);
    if (i + 1 < kSmallestSide) continue;
    const double m1 = left / k, m2 = -left / (n - k);
    const double within = std::max(squares - k * m1 * m1 - (n - k) * m2 * m2, 0.0);
    const double error = std::sqrt(within / (n - 2) * (1 / k + 1 / (n - k)));
    const double t = error > 0 ? std::abs(m1 - m2) / error : (m1 == m2 ? 0.0 : 1e9);
    if (t > best.statistic) best = {static_cast<std::int64_t>(i + 1), mean + m1, mean + m2, t, 0};
  }
  return best;
}

double autocorrelation_of_residuals(std::span<const double> y, const MeanShift& split) {
  std::vector<double> residuals(y.begin(), y.end());
  for (std::size_t i = 0; i < residuals.size(); ++i)
    residuals[i] -= static_cast<std::int64_t>(i) < split.at ? split.before_mean : split.after_mean;
  return std::min(lag1_autocorrelation(residuals) + 1 / static_cast<double>(y.size()), 0.95);
}

}  // namespace

std::optional<MeanShift> find_mean_shift(std::span<const double> y, double smallest_change) {
  if (y.size() < 2 * kSmallestSide) return std::nullopt;
  const auto n = static_cast<double>(y.size());
  MeanShift best = best_split(y);
  best.limit = critical_value(n);
  const double r = autocorrelation_of_residuals(y, best);
  if (r > 1.96 / std::sqrt(n)) best.limit *= std::sqrt((1 + r) / (1 - r));
  const bool large = std::abs(best.after_mean - best.before_mean) >= smallest_change * best.before_mean;
  if (best.statistic <= best.limit || !large) return std::nullopt;
  return best;
}

}  // namespace gpusizer
