// SPDX-License-Identifier: Apache-2.0
// Order statistics and Student's t.
#include "reports/sizing/scaling/quantile.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gpusizer::scaling {
namespace {

// P(|T| <= x) with theta = atan(x / sqrt(degrees)).
double student_central(double x, int degrees) {
  const double theta = std::atan(x / std::sqrt(double(degrees)));
  const double cosine = std::cos(theta), square = cosine * cosine;
  double term = degrees % 2 ? cosine : 1, sum = degrees > 1 ? term : 0;
  for (int k = degrees % 2 ? 3 : 2; k <= degrees - 2; k += 2) {
    term *= square * (k - 1) / k;
    sum += term;
  }
  if (degrees % 2) return 2 / std::numbers::pi * (theta + std::sin(theta) * sum);
  return std::sin(theta) * sum;
}

}  // namespace

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double place = share * double(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  if (below + 1 >= values.size()) return values.back();
  return values[below] + (place - double(below)) * (values[below + 1] - values[below]);
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

double weighted_quantile(std::vector<std::pair<double, double>> values, double share) {
  std::sort(values.begin(), values.end());
  double all = 0, sum = 0;
  for (const auto& [value, weight] : values) all += weight;
  for (const auto& [value, weight] : values) {
    sum += weight;
    if (sum >= share * all) return value;
  }
  return values.back().first;
}

double student_quantile(double p, int degrees) {
  double low = 0, high = 1;
  while (student_central(high, degrees) < 2 * p - 1 && high < 1e12) high *= 2;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (student_central(middle, degrees) < 2 * p - 1 ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace gpusizer::scaling
