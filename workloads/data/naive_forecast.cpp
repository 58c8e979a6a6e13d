// SPDX-License-Identifier: Apache-2.0
// The errors of the two naive forecasts.
#include "workloads/data/naive_forecast.hpp"

#include <cmath>

namespace gpusizer {

namespace {

struct ForecastErrors {
  double absolute = 0, squared = 0;  // means
};

ForecastErrors mean_errors(const SeriesWindows& series, TargetBase guess) {
  double absolute = 0, squared = 0;
  for (int64_t i = 0; i < series.count; ++i) {
    const int64_t origin = series.origin(i);
    for (int64_t step = 0; step < series.horizon; ++step) {
      for (const int64_t target : series.targets) {
        const double error = (series.value(origin + step, target) - series.naive(guess, origin, step, target)) /
                             series.target_unit(target);
        absolute += std::abs(error);
        squared += error * error;
      }
    }
  }
  const double count = static_cast<double>(series.count) * static_cast<double>(series.horizon) *
                       static_cast<double>(series.targets.size());
  return {absolute / count, squared / count};
}

}  // namespace

std::vector<std::pair<std::string, double>> naive_forecasts(const SeriesWindows& series) {
  std::vector<std::pair<std::string, double>> found;
  const bool one_target = series.deviations.size() == 1;
  const double unit = one_target ? series.deviations[0] * series.target_unit(series.targets[0]) : 0;
  const auto add = [&](const std::string& name, const ForecastErrors& errors) {
    found.emplace_back(name + "_mae", errors.absolute);
    found.emplace_back(name + "_mse", errors.squared);
    if (one_target) found.emplace_back(name + "_mae_original", errors.absolute * unit);
  };
  add("persistence", mean_errors(series, TargetBase::last));
  if (series.season > 0 && series.origin(0) >= series.season)
    add("seasonal_naive", mean_errors(series, TargetBase::season));
  if (one_target) found.emplace_back("target_deviation", unit);
  return found;
}

}  // namespace gpusizer
