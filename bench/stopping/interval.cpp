// SPDX-License-Identifier: Apache-2.0
// The half-width of a mean of correlated samples: autoregressive inflation and overlapping batch means.
#include "bench/stopping/interval.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reports/record/distributions.hpp"
#include "reports/record/statistics.hpp"

namespace gpusizer {
namespace {

constexpr double kConfidence = 0.975;  // of one side; 95 % for both
constexpr double kLargestLag1 = 0.95;

double squares_around(std::span<const double> y, double mean) {
  double sum = 0;
  for (double value : y) sum += (value - mean) * (value - mean);
  return sum;
}

double few_samples(double degrees, double n) { return n < 4 ? std::min(degrees, n - 1) : degrees; }

void fill_ar1(MeanInterval& it, double n) {
  const double r = std::clamp(it.lag1 + (1 + 4 * std::max(it.lag1, 0.0)) / n, 0.0, kLargestLag1);
  it.lag1_corrected = r;
  it.ar1_degrees = few_samples(std::max(3.0, n * (1 - r) / (1 + r) - 1), n);
  it.ar1_half_width = record::student_t_quantile(kConfidence, it.ar1_degrees) * it.standard_deviation / std::sqrt(n) *
                      std::sqrt((1 + r) / (1 - r));
}

double batch_squares(std::span<const double> y, std::size_t b, double mean) {
  double window = std::accumulate(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(b), 0.0), sum = 0;
  for (std::size_t i = 0;; ++i) {
    const double away = window / static_cast<double>(b) - mean;
    sum += away * away;
    if (i + b == y.size()) return sum;
    window += y[i + b] - y[i];
  }
}

void fill_batches(MeanInterval& it, std::span<const double> y, double n) {
  it.batch = static_cast<std::int64_t>(std::floor(std::sqrt(n)));
  const auto b = static_cast<double>(it.batch);
  it.batch_variance = n * b / ((n - b) * (n - b + 1)) * batch_squares(y, static_cast<std::size_t>(it.batch), it.mean);
  it.batch_degrees = few_samples(1.5 * (n / b - 1), n);
  it.batch_half_width = record::student_t_quantile(kConfidence, it.batch_degrees) * std::sqrt(it.batch_variance / n);
}

}  // namespace

double lag1_autocorrelation(std::span<const double> y) {
  if (y.size() < 2) return 0.0;
  const double mean = record::mean(y), squares = squares_around(y, mean);
  double products = 0;
  for (std::size_t i = 0; i + 1 < y.size(); ++i) products += (y[i] - mean) * (y[i + 1] - mean);
  return squares > 0 ? products / squares : 0.0;
}

std::optional<MeanInterval> mean_interval(std::span<const double> y) {
  if (y.size() < 2) return std::nullopt;
  const auto n = static_cast<double>(y.size());
  MeanInterval it;
  it.samples = static_cast<std::int64_t>(y.size());
  it.mean = record::mean(y);
  it.standard_deviation = std::sqrt(squares_around(y, it.mean) / (n - 1));
  it.lag1 = lag1_autocorrelation(y);
  fill_ar1(it, n);
  fill_batches(it, y, n);
  it.half_width = std::max(it.ar1_half_width, it.batch_half_width);
  return it;
}

}  // namespace gpusizer
