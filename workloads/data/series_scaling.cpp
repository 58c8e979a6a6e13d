// SPDX-License-Identifier: Apache-2.0
// Mean and deviation in two passes, in double.
#include "workloads/data/series_scaling.hpp"

#include <fmt/format.h>

#include <cmath>

#include "gpusizer/error.hpp"
#include "workloads/data/date_text.hpp"

namespace gpusizer {

namespace {

constexpr double most_scaled = 1e15;      // its square is far from the end of a float's range
constexpr double least_relative = 1e-12;  // a deviation below this share of the mean is rounding

ColumnScaling fit_column(const SeriesTable& table, size_t column, int64_t steps) {
  const size_t width = table.columns.size();
  const auto count = static_cast<double>(steps);
  double mean = 0, squares = 0;
  for (int64_t step = 0; step < steps; ++step) mean += table.values[static_cast<size_t>(step) * width + column] / count;
  for (int64_t step = 0; step < steps; ++step) {
    const double distance = table.values[static_cast<size_t>(step) * width + column] - mean;
    squares += distance * distance / count;
  }
  const double deviation = std::sqrt(squares);
  return {mean, deviation <= least_relative * std::abs(mean) ? 1.0 : deviation};
}

}  // namespace

std::vector<ColumnScaling> fit_scaling(const SeriesTable& table, int64_t steps) {
  std::vector<ColumnScaling> scaling;
  for (size_t column = 0; column < table.columns.size(); ++column) scaling.push_back(fit_column(table, column, steps));
  return scaling;
}

std::vector<float> scaled_values(const SeriesTable& table, const std::vector<ColumnScaling>& scaling) {
  std::vector<float> scaled(table.values.size());
  const size_t width = table.columns.size();
  for (size_t i = 0; i < scaled.size(); ++i) {
    const ColumnScaling& by = scaling[i % width];
    const double value = (table.values[i] - by.mean) / by.deviation;
    if (!(std::abs(value) <= most_scaled)) {
      throw Error(
          Fault::input,
          fmt::format("the value {} of {} cannot be scaled: the training part has mean {:.6g}, deviation {:.6g}",
                      table.values[i], date_text(table.dates_us[i / width]), by.mean, by.deviation),
          fmt::format("{}, column {}", table.location, table.columns[i % width]));
    }
    scaled[i] = static_cast<float>(value);
  }
  return scaled;
}

}  // namespace gpusizer
