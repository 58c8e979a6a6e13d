// SPDX-License-Identifier: Apache-2.0
// MSER-5 in one backward pass: the sums over the tail grow by one batch at a time.
#include "bench/stopping/warm_up.hpp"

#include <algorithm>
#include <numeric>

namespace gpusizer {
namespace {

constexpr std::size_t kBatch = 5;

std::vector<double> batch_means(std::span<const double> y) {
  std::vector<double> means(y.size() / kBatch);
  for (std::size_t i = 0; i < means.size(); ++i) {
    const auto batch = y.subspan(i * kBatch, kBatch);
    means[i] = std::accumulate(batch.begin(), batch.end(), 0.0) / kBatch;
  }
  return means;
}

}  // namespace

std::vector<double> mser5_curve(std::span<const double> step_seconds) {
  const auto z = batch_means(step_seconds);
  std::vector<double> curve(z.empty() ? 0 : z.size() / 2 + 1);
  // Welford's update, from the last batch to the first, keeps the sum of squares exact for long, flat series.
  double mean = 0.0, squares = 0.0, count = 0.0;
  for (std::size_t d = z.size(); d-- > 0;) {
    count += 1.0;
    const double away = z[d] - mean;
    mean += away / count;
    squares += away * (z[d] - mean);
    if (d < curve.size()) curve[d] = squares / (count * count);
  }
  return curve;
}

WarmUpCut mser5_cut(std::span<const double> step_seconds) {
  if (static_cast<std::int64_t>(step_seconds.size()) < kMserSmallestSeries) return {};
  const auto curve = mser5_curve(step_seconds);
  const auto best = static_cast<std::size_t>(std::min_element(curve.begin(), curve.end()) - curve.begin());
  return {.steps = static_cast<std::int64_t>(best * kBatch), .judged = true, .at_limit = best + 1 == curve.size()};
}

}  // namespace gpusizer
