// SPDX-License-Identifier: Apache-2.0
// The fit: rows of relative errors, one pseudo-row for each coefficient of the prior.
#include "reports/sizing/scaling/tiered_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gpusizer/error.hpp"

namespace gpusizer::scaling {
namespace {


bool earlier(const Point& left, const Point& right) { return left.layout.gpus < right.layout.gpus; }

void check_points(std::span<const Point> points) {
  if (points.empty()) throw Error(Fault::input, "there is no point to fit", "", "measure at least one count of GPUs");
  for (const Point& point : points) {
    const auto& [gpus, nodes] = point.layout;
    if (!(gpus >= 1) || !(nodes >= 1) || nodes > gpus || !std::isfinite(gpus))
      throw Error(Fault::input, fmt::format("{} GPUs on {} nodes cannot be", gpus, nodes));
    if (!(point.seconds > 0) || !std::isfinite(point.seconds))
      throw Error(Fault::input, fmt::format("the step time at {} GPUs is {}", gpus, point.seconds), "",
                  "step times are finite and above 0");
  }
}

double dot(const Coefficients& left, const Coefficients& right) {
  double sum = 0;
  for (std::size_t i = 0; i < most_columns; ++i) sum += left[i] * right[i];
  return sum;
}

bool on_several_nodes(const Point& point) { return point.layout.nodes > 1; }

// The prior as it is for these points: th2 by what the inside of the node shows.
Prior conditioned(Prior prior, std::span<const Point> points) {
  const auto growth = growth_per_doubling(points);
  if (!prior.node || !growth) return prior;
  prior.mean[2] = std::max(0.0, prior.node->offset + prior.node->factor * *growth);
  prior.spread[2] = prior.node->spread;
  return prior;
}

// Gauss-Jordan; the matrix is positive definite because of the prior's rows.
std::array<Coefficients, most_columns> inverse(std::array<Coefficients, most_columns> a) {
  std::array<Coefficients, most_columns> result{};
  for (std::size_t i = 0; i < most_columns; ++i) result[i][i] = 1;
  for (std::size_t k = 0; k < most_columns; ++k) {
    const double pivot = a[k][k];
    for (std::size_t j = 0; j < most_columns; ++j) a[k][j] /= pivot, result[k][j] /= pivot;
    for (std::size_t i = 0; i < most_columns; ++i) {
      if (i == k) continue;
      const double factor = a[i][k];
      for (std::size_t j = 0; j < most_columns; ++j) a[i][j] -= factor * a[k][j], result[i][j] -= factor * result[k][j];
    }
  }
  return result;
}

std::array<Coefficients, most_columns> covariance_of(std::span<const Equation> equations, double noise) {
  std::array<Coefficients, most_columns> curvature{};
  for (const Equation& one : equations)
    for (std::size_t i = 0; i < most_columns; ++i)
      for (std::size_t j = 0; j < most_columns; ++j) curvature[i][j] += one.features[i] * one.features[j];
  auto result = inverse(curvature);
  for (auto& row : result)
    for (double& value : row) value *= noise * noise;
  return result;
}

}  // namespace

Prior shipped_prior() {
  return {.mean = {0, 0.006, 0.066, 0.016}, .spread = {1, 0.087, 0.470, 0.173}, .noise = 0.025,
          .node = Prior::Node{.offset = 0.0176, .factor = 1.307, .spread = 0.487}};
}

Coefficients features(const Layout& layout) {
  const double inside = layout.gpus / layout.nodes;
  return {1, 2 * (inside - 1) / inside, 2 * (layout.nodes - 1) / layout.nodes, std::log2(layout.gpus)};
}

std::optional<double> growth_per_doubling(std::span<const Point> points) {
  std::vector<Point> inside;
  for (const Point& point : points)
    if (!on_several_nodes(point)) inside.push_back(point);
  if (inside.size() < 2) return std::nullopt;
  const Point& low = *std::min_element(inside.begin(), inside.end(), earlier);
  const Point& high = *std::max_element(inside.begin(), inside.end(), earlier);
  if (!(high.layout.gpus > low.layout.gpus)) return std::nullopt;
  return std::clamp((high.seconds / low.seconds - 1) / std::log2(high.layout.gpus / low.layout.gpus), -0.05, 0.6);
}

double Fit::seconds(const Layout& layout) const { return reference_seconds * dot(features(layout), theta); }

double Fit::relative_sd(const Layout& layout) const {
  const Coefficients f = features(layout);
  double variance = 0;
  for (std::size_t i = 0; i < most_columns; ++i) variance += f[i] * dot(covariance[i], f);
  const double share = dot(f, theta);
  return std::sqrt(std::max(0.0, variance) / (share * share) + noise * noise);
}

Fit fit_tiered(std::span<const Point> points, const Prior& general) {
  check_points(points);
  const Prior prior = conditioned(general, points);
  const double reference = std::min_element(points.begin(), points.end(), earlier)->seconds;
  std::vector<Equation> equations;
  for (const Point& point : points) {
    Equation row{features(point.layout), 1};
    for (double& value : row.features) value /= point.seconds / reference;
    equations.push_back(row);
  }
  for (std::size_t j = 1; j < most_columns; ++j) {
    const double weight = prior.noise / prior.spread[j];
    Equation row{{}, weight * prior.mean[j]};
    row.features[j] = weight;
    equations.push_back(row);
  }
  return {.reference_seconds = reference, .theta = solve_nnls(equations, most_columns),
          .covariance = covariance_of(equations, prior.noise), .noise = prior.noise};
}

}  // namespace gpusizer::scaling
