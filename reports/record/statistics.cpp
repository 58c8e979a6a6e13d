// SPDX-License-Identifier: Apache-2.0
// Plain descriptive statistics.
#include "reports/record/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gpusizer/error.hpp"

namespace gpusizer::record {
namespace {

void need(std::span<const double> values, std::size_t count, const char* figure) {
  if (values.size() < count)
    throw Error(Fault::failed, std::string(figure) + " needs at least " + std::to_string(count) + " values, got " +
                                   std::to_string(values.size()));
}

}  // namespace

double mean(std::span<const double> values) {
  need(values, 1, "a mean");
  // Compensated (Neumaier) sum, so that long series do not lose digits to their length.
  double sum = 0, lost = 0;
  for (const double value : values) {
    const double next = sum + value;
    lost += std::abs(sum) >= std::abs(value) ? (sum - next) + value : (value - next) + sum;
    sum = next;
  }
  return (sum + lost) / static_cast<double>(values.size());
}

double minimum(std::span<const double> values) {
  need(values, 1, "a minimum");
  return *std::min_element(values.begin(), values.end());
}

double maximum(std::span<const double> values) {
  need(values, 1, "a maximum");
  return *std::max_element(values.begin(), values.end());
}

double median(std::span<const double> values) { return quantile(values, 0.5); }

double quantile(std::span<const double> values, double share) {
  need(values, 1, "a quantile");
  if (!(share >= 0 && share <= 1)) throw Error(Fault::failed, "a quantile's share must be between 0 and 1");
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double rank = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (rank - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double standard_deviation(std::span<const double> values) {
  need(values, 2, "a standard deviation");
  const double centre = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - centre) * (value - centre);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

void fill_step_summary(Measurement& measurement) {
  const std::span<const double> all = measurement.step_seconds;
  const auto cut = std::min(all.size(), static_cast<std::size_t>(std::max<std::int64_t>(measurement.warmup_steps, 0)));
  const auto steps = all.subspan(cut);
  const auto figure = [&](std::size_t needed, auto compute) {
    if (steps.size() >= needed) return Maybe<double>(compute());
    return Maybe<double>::missing("only " + std::to_string(steps.size()) + " measured steps");
  };
  measurement.mean_step_seconds = figure(1, [&] { return mean(steps); });
  measurement.p50_step_seconds = figure(1, [&] { return median(steps); });
  measurement.p95_step_seconds = figure(1, [&] { return quantile(steps, 0.95); });
  measurement.sd_step_seconds = figure(2, [&] { return standard_deviation(steps); });
}

}  // namespace gpusizer::record
