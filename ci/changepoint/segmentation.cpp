// SPDX-License-Identifier: Apache-2.0
// Max-t segmentation: split, go on left and right, take back what is too weak between its neighbours.
#include "ci/changepoint/segmentation.hpp"

#include <algorithm>
#include <cmath>

namespace gpusizer::ci {
namespace {

// Sums over any stretch in constant time. Centred on the first value, so that squares of large levels keep their digits.
class Sums {
 public:
  explicit Sums(std::span<const double> series) : centre_(series.empty() ? 0 : series.front()) {
    for (const double value : series) {
      sum_.push_back(sum_.back() + (value - centre_));
      squares_.push_back(squares_.back() + (value - centre_) * (value - centre_));
    }
  }

  double mean(std::size_t from, std::size_t to) const {
    return centre_ + (sum_[to] - sum_[from]) / static_cast<double>(to - from);
  }
  double squares_around_mean(std::size_t from, std::size_t to) const {
    const double sum = sum_[to] - sum_[from];
    return std::max(0.0, squares_[to] - squares_[from] - sum * sum / static_cast<double>(to - from));
  }

 private:
  double centre_;
  std::vector<double> sum_{0}, squares_{0};
};

// T of the split of [from, to) at `at`. Runs that agree to the last digit on both sides leave nothing to divide by.
double split_t(const Sums& sums, std::size_t from, std::size_t at, std::size_t to) {
  const auto left = static_cast<double>(at - from), right = static_cast<double>(to - at);
  const double squares = sums.squares_around_mean(from, at) + sums.squares_around_mean(at, to);
  const double away = std::abs(sums.mean(from, at) - sums.mean(at, to));
  const double noise = std::sqrt(squares / (left + right - 2));
  const double resolution = 1e-9 * std::abs(sums.mean(from, to));
  if (!(away > resolution)) return 0;
  return away / (std::max(noise, resolution) * std::sqrt(1 / left + 1 / right));
}

ChangePoint split_at(const Sums& sums, std::size_t from, std::size_t at, std::size_t to, double widening) {
  return {.at = at, .before = sums.mean(from, at), .after = sums.mean(at, to), .t = split_t(sums, from, at, to),
          .limit = widening * critical_t(to - from)};
}

ChangePoint strongest(const Sums& sums, std::size_t from, std::size_t to, std::size_t shortest, double widening) {
  if (to - from < 2 * shortest) return {};
  std::size_t best = from + shortest;
  double best_t = -1;
  for (std::size_t at = from + shortest; at + shortest <= to; ++at) {
    const double t = split_t(sums, from, at, to);
    if (t > best_t) best_t = t, best = at;
  }
  return split_at(sums, from, best, to, widening);
}

void split_further(const Sums& sums, std::size_t from, std::size_t to, std::size_t shortest, double widening,
                   std::vector<std::size_t>& places) {
  const ChangePoint split = strongest(sums, from, to, shortest, widening);
  if (split.at == 0 || !(split.t > split.limit)) return;
  split_further(sums, from, split.at, shortest, widening, places);
  places.push_back(split.at);
  split_further(sums, split.at, to, shortest, widening, places);
}

std::vector<ChangePoint> described(const Sums& sums, const std::vector<std::size_t>& places, std::size_t runs,
                                   double widening) {
  std::vector<ChangePoint> points;
  for (std::size_t i = 0; i < places.size(); ++i)
    points.push_back(split_at(sums, i ? places[i - 1] : 0, places[i], i + 1 < places.size() ? places[i + 1] : runs, widening));
  return points;
}

// A point is weak when it would not be found between its neighbours, or is too small to matter.
std::vector<ChangePoint> without_weak(const Sums& sums, std::vector<std::size_t> places, std::size_t runs, double widening,
                                      double least_change) {
  while (true) {
    const auto points = described(sums, places, runs, widening);
    const auto strength = [&](const ChangePoint& p) { return std::abs(p.change()) < least_change ? -1 : p.t / p.limit; };
    const auto weakest = std::min_element(points.begin(), points.end(), [&](const auto& a, const auto& b) {
      return strength(a) < strength(b);
    });
    if (weakest == points.end() || strength(*weakest) >= 1) return points;
    places.erase(places.begin() + (weakest - points.begin()));
  }
}

// Lag-1 autocorrelation of what is left when the levels are taken away, 1/n added for its bias.
double residual_likeness(std::span<const double> series, const Sums& sums, const std::vector<std::size_t>& places) {
  std::vector<double> residuals;
  for (std::size_t from = 0, next = 0; from < series.size(); ++next) {
    const std::size_t to = next < places.size() ? places[next] : series.size();
    for (std::size_t i = from; i < to; ++i) residuals.push_back(series[i] - sums.mean(from, to));
    from = to;
  }
  double products = 0, squares = 0;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    squares += residuals[i] * residuals[i];
    if (i) products += residuals[i] * residuals[i - 1];
  }
  return squares > 0 ? products / squares + 1 / static_cast<double>(series.size()) : 0;
}

double widening_for(double likeness, std::size_t runs) {
  if (likeness <= 1.64 / std::sqrt(static_cast<double>(runs))) return 1;
  const double r = std::min(likeness, 0.95);
  return std::sqrt((1 + r) / (1 - r));
}

}  // namespace

ChangePoint strongest_split(std::span<const double> series, const SegmentationRules& rules) {
  return strongest(Sums(series), 0, series.size(), std::max<std::size_t>(rules.shortest, 2), 1);
}

std::vector<ChangePoint> find_change_points(std::span<const double> series, const SegmentationRules& rules) {
  const Sums sums(series);
  const std::size_t shortest = std::max<std::size_t>(rules.shortest, 2);
  std::vector<std::size_t> places;
  split_further(sums, 0, series.size(), shortest, 1, places);
  if (places.empty()) return {};
  const double widening = widening_for(residual_likeness(series, sums, places), series.size());
  if (widening > 1) {
    places.clear();
    split_further(sums, 0, series.size(), shortest, widening, places);
  }
  return without_weak(sums, places, series.size(), widening, rules.least_change);
}

}  // namespace gpusizer::ci
