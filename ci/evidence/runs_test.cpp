// SPDX-License-Identifier: Apache-2.0
// Student's t test of few new runs against many before.
#include "ci/evidence/runs_test.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ci/evidence/student_t.hpp"
#include "gpusizer/error.hpp"
#include "reports/record/statistics.hpp"

namespace gpusizer::ci {
namespace {

constexpr double kNormalMad = 1.4826;  // sd of a normal distribution / its median absolute deviation

double squares_around(std::span<const double> values, double centre) {
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return sum;
}

RunsTest finished(RunsTest test, double noise_floor) {
  test.noise = std::max(test.noise, noise_floor);
  test.shift = test.new_mean - test.base_mean;
  test.error = test.noise * std::sqrt(1.0 / static_cast<double>(test.new_runs) + 1.0 / static_cast<double>(test.base_runs));
  test.t = test.error > 0 ? test.shift / test.error : test.shift == 0 ? 0 : std::copysign(INFINITY, test.shift);
  test.p_above = student_t_above(test.t, test.freedom);
  test.p_below = student_t_above(-test.t, test.freedom);
  const double reach = student_t_limit(0.025, test.freedom) * test.error;
  test.low = test.shift - reach;
  test.high = test.shift + reach;
  return test;
}

RunsTest counted(std::span<const double> base, std::span<const double> fresh, std::size_t fewest) {
  if (base.size() < 2 || fresh.empty() || base.size() + fresh.size() < fewest)
    throw Error(Fault::failed, "a test of runs needs more of them");
  return {.base_runs = base.size(), .new_runs = fresh.size(), .base_mean = record::mean(base), .new_mean = record::mean(fresh)};
}

}  // namespace

RunsTest test_against_history(std::span<const double> base, std::span<const double> fresh, double noise_floor) {
  RunsTest test = counted(base, fresh, 3);
  test.freedom = static_cast<double>(base.size() - 1);
  test.noise = std::sqrt(squares_around(base, test.base_mean) / test.freedom);
  return finished(test, noise_floor);
}

RunsTest test_pooled(std::span<const double> base, std::span<const double> fresh, double noise_floor) {
  RunsTest test = counted(base, fresh, 4);
  test.freedom = static_cast<double>(base.size() + fresh.size() - 2);
  test.noise = std::sqrt((squares_around(base, test.base_mean) + squares_around(fresh, test.new_mean)) / test.freedom);
  return finished(test, noise_floor);
}

double smallest_visible_shift(const RunsTest& test, double alpha, double power) {
  return test.error * (student_t_limit(alpha, test.freedom) + student_t_limit(1 - power, test.freedom));
}

double robust_spread(std::span<const double> values) {
  const double centre = record::median(values);
  std::vector<double> away;
  for (const double value : values) away.push_back(std::abs(value - centre));
  return kNormalMad * record::median(away);
}

double noise_of_neighbours(std::span<const double> series) {
  if (series.size() < 3) throw Error(Fault::failed, "the noise between neighbours needs three runs");
  std::vector<double> steps;
  for (std::size_t i = 1; i < series.size(); ++i) steps.push_back(series[i] - series[i - 1]);
  return robust_spread(steps) / std::sqrt(2.0);
}

std::size_t count_outliers(std::span<const double> values, double limit) {
  if (values.empty()) return 0;
  const double centre = record::median(values), spread = robust_spread(values);
  if (!(spread > 0)) return 0;
  return static_cast<std::size_t>(
      std::count_if(values.begin(), values.end(), [&](double v) { return std::abs(v - centre) > limit * spread; }));
}

}  // namespace gpusizer::ci
