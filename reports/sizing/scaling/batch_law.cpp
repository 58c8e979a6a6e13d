// SPDX-License-Identifier: Apache-2.0
// The affine law of the batch.
#include "reports/sizing/scaling/batch_law.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gpusizer/error.hpp"
#include "reports/sizing/scaling/nnls.hpp"

namespace gpusizer::scaling {
namespace {

void check_batches(std::span<const BatchPoint> points, double batch) {
  if (points.empty()) throw Error(Fault::input, "no batch was measured", "", "measure at least one");
  if (!(batch > 0)) throw Error(Fault::usage, fmt::format("the batch is {}", batch), "", "give a batch above 0");
  for (const BatchPoint& point : points)
    if (!(point.batch > 0) || !(point.seconds > 0) || !std::isfinite(point.seconds))
      throw Error(Fault::input, fmt::format("a step of batch {} took {} s", point.batch, point.seconds));
}

}  // namespace

double seconds_at_batch(std::span<const BatchPoint> points, double batch) {
  check_batches(points, batch);
  std::vector<BatchPoint> near(points.begin(), points.end());
  const auto distance = [&](const BatchPoint& point) { return std::abs(std::log(point.batch / batch)); };
  std::stable_sort(near.begin(), near.end(),
                   [&](const BatchPoint& left, const BatchPoint& right) { return distance(left) < distance(right); });
  const BatchPoint& nearest = near.front();
  const double least = 0.5 * nearest.seconds * std::min(1.0, batch / nearest.batch);
  const auto second = std::find_if(near.begin(), near.end(), [&](const BatchPoint& p) { return p.batch != nearest.batch; });
  if (second == near.end()) return nearest.seconds * std::max(1.0, batch / nearest.batch);
  const double slope = (second->seconds - nearest.seconds) / (second->batch - nearest.batch);
  return std::max(least, nearest.seconds + slope * (batch - nearest.batch));
}

AffineBatch fit_affine(std::span<const BatchPoint> points) {
  check_batches(points, 1);
  std::vector<Equation> equations;
  for (const BatchPoint& point : points) {
    Equation row{{}, 1};
    row.features[0] = 1 / point.seconds;
    row.features[1] = point.batch / point.seconds;
    equations.push_back(row);
  }
  const Coefficients law = solve_nnls(equations, 2);
  return {law[0], law[1]};
}

double batch_scale(std::span<const BatchPoint> points, double batch) {
  return 0.03 + std::abs(std::log(fit_affine(points).seconds(batch) / seconds_at_batch(points, batch)));
}

double largest_batch(const BatchPoint& one, const BatchPoint& other, double device_bytes) {
  if (!(one.batch > 0) || !(other.batch > 0) || one.batch == other.batch)
    throw Error(Fault::input, "the memory of two different batches is needed");
  const double per_sample = std::max(0.0, (other.seconds - one.seconds) / (other.batch - one.batch));
  const double fixed = one.seconds - per_sample * one.batch;
  const double room = usable_memory_share * device_bytes - fixed;
  if (room < 0) return 0;
  return per_sample > 0 ? std::floor(room / per_sample) : 1e15;
}

}  // namespace gpusizer::scaling
