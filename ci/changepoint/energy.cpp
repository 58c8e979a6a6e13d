// SPDX-License-Identifier: Apache-2.0
// Plain sums over pairs: the series of a history is at most some hundred runs.
#include "ci/changepoint/energy.hpp"

#include <cmath>

namespace gpusizer::ci {
namespace {

double pairs_within(std::span<const double> values) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t k = i + 1; k < values.size(); ++k) sum += std::abs(values[i] - values[k]);
  return sum;
}

double pairs_between(std::span<const double> x, std::span<const double> y) {
  double sum = 0;
  for (const double a : x)
    for (const double b : y) sum += std::abs(a - b);
  return sum;
}

}  // namespace

double energy_between(std::span<const double> x, std::span<const double> y) {
  const auto n = static_cast<double>(x.size()), m = static_cast<double>(y.size());
  return 2 / (m + n) * pairs_between(x, y) - 2 * m / ((m + n) * (n - 1)) * pairs_within(x) -
         2 * n / ((m + n) * (m - 1)) * pairs_within(y);
}

EnergySplit strongest_energy_split(std::span<const double> series) {
  EnergySplit best;
  for (std::size_t end = 4; end <= series.size(); ++end)
    for (std::size_t at = 2; at + 2 <= end; ++at) {
      const double q = energy_between(series.first(at), series.subspan(at, end - at));
      if (best.end == 0 || q > best.q) best = {at, end, q};
    }
  return best;
}

}  // namespace gpusizer::ci
