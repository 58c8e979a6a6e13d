// SPDX-License-Identifier: Apache-2.0
// Each series gives its own coefficients; their median is the prior's mean, their distance from it its spread.
#include "reports/sizing/scaling/population.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "reports/sizing/scaling/quantile.hpp"

namespace gpusizer::scaling {
namespace {

constexpr double ridge = 0.03;  // towards 0: keeps columns apart that the points of a series hardly tell apart

struct OwnFit {
  std::array<std::optional<double>, most_columns> theta;  // relative to th0; only columns that vary in the series
  std::vector<double> residuals;                     // relative; empty where points are no more than coefficients
};

OwnFit own_fit(const Series& series) {
  std::vector<Equation> equations;
  Coefficients low{}, high{};
  for (const Point& point : series) {
    Equation row{features(point.layout), 1};
    for (std::size_t j = 0; j < most_columns; ++j) {
      const double value = row.features[j];
      low[j] = equations.empty() ? value : std::min(low[j], value);
      high[j] = equations.empty() ? value : std::max(high[j], value);
      row.features[j] /= point.seconds / series.front().seconds;
    }
    equations.push_back(row);
  }
  const std::size_t points = equations.size();
  for (std::size_t j = 1; j < most_columns; ++j) {
    Equation row;
    row.features[j] = ridge;
    equations.push_back(row);
  }
  const Coefficients theta = solve_nnls(equations, most_columns);
  OwnFit fit;
  std::size_t active = 1;
  for (std::size_t j = 1; j < most_columns; ++j)
    if (high[j] > low[j]) fit.theta[j] = theta[j] / std::max(theta[0], 1e-9), ++active;
  if (points <= active) return fit;
  for (std::size_t i = 0; i < points; ++i) {
    double sum = -1;
    for (std::size_t j = 0; j < most_columns; ++j) sum += equations[i].features[j] * theta[j];
    fit.residuals.push_back(std::abs(sum));
  }
  return fit;
}

// Median, and the root mean square distance from it, of values cut at their 95 % quantile.
void set_mean_and_spread(std::vector<double> values, double& mean, double& spread) {
  if (values.size() < 5) {
    mean = 0.05, spread = 0.1;
    return;
  }
  const double most = quantile(values, 0.95);
  for (double& value : values) value = std::min(value, most);
  mean = median(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  spread = std::max(0.01, std::sqrt(sum / double(values.size())));
}

struct Growth {
  double inside = 0, across = 0;  // per doubling; th2 that a point on several nodes asks for
};

std::vector<Growth> growths(std::span<const Series> series) {
  std::vector<Growth> result;
  for (const Series& one : series) {
    const auto inside = growth_per_doubling(one);
    if (!inside) continue;
    const Point* top = nullptr;
    for (const Point& point : one)
      if (point.layout.nodes <= 1 && (!top || point.layout.gpus > top->layout.gpus)) top = &point;
    for (const Point& point : one)
      if (point.layout.nodes > 1)
        result.push_back({*inside, (point.seconds - top->seconds) / one.front().seconds / features(point.layout)[2]});
  }
  return result;
}

// A line by least absolute deviations: least squares, weighted again by what the last one left over.
std::optional<Prior::Node> node_law(std::vector<Growth> all) {
  if (all.size() < 8) return std::nullopt;
  std::vector<double> across;
  for (const Growth& one : all) across.push_back(one.across);
  const double low = quantile(across, 0.05), high = quantile(across, 0.95);
  for (Growth& one : all) one.across = std::clamp(one.across, low, high);
  double offset = 0, factor = 0;
  for (int round = 0; round < 20; ++round) {
    double w = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (const Growth& one : all) {
      const double weight = round ? 1 / std::max(0.02, std::abs(offset + factor * one.inside - one.across)) : 1;
      w += weight, x += weight * one.inside, y += weight * one.across;
      xx += weight * one.inside * one.inside, xy += weight * one.inside * one.across;
    }
    const double spread = w * xx - x * x;
    factor = spread > 1e-12 * w * w ? (w * xy - x * y) / spread : 0;
    offset = (y - factor * x) / w;
  }
  double sum = 0;
  for (const Growth& one : all) sum += std::pow(offset + factor * one.inside - one.across, 2);
  return Prior::Node{offset, factor, std::max(0.03, std::sqrt(sum / double(all.size())))};
}

}  // namespace

Prior learn_prior(std::span<const Series> series) {
  if (series.empty()) return shipped_prior();
  std::array<std::vector<double>, most_columns> values;
  std::vector<double> residuals;
  for (const Series& one : series) {
    const OwnFit fit = own_fit(one);
    for (std::size_t j = 1; j < most_columns; ++j)
      if (fit.theta[j]) values[j].push_back(*fit.theta[j]);
    residuals.insert(residuals.end(), fit.residuals.begin(), fit.residuals.end());
  }
  Prior prior;
  prior.mean[0] = 0, prior.spread[0] = 1;
  for (std::size_t j = 1; j < most_columns; ++j) set_mean_and_spread(values[j], prior.mean[j], prior.spread[j]);
  prior.noise = residuals.empty() ? 0.03 : std::max(0.01, 1.48 * median(residuals));
  prior.node = node_law(growths(series));
  return prior;
}

}  // namespace gpusizer::scaling
