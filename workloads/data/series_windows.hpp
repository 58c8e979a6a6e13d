// SPDX-License-Identifier: Apache-2.0
// A scaled series in memory and the windows that slide over it, one step at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpusizer {

// What a target is counted from: nothing, the last value before the forecast, or the value one season before (as many
// seasons as it takes to be before the forecast). A model that then answers 0 is that naive forecast.
enum class TargetBase : uint8_t { none, last, season };

// Window i takes the steps first + i .. first + i + window - 1 in and the `horizon` steps after them out.
struct SeriesWindows {
  std::vector<float> values{};  // steps x columns, scaled; history before `first` may be there
  int64_t columns = 0;
  int64_t features = 0;              // the first of the columns go into the model
  std::vector<int64_t> targets{};    // columns that are to be forecast
  std::vector<double> deviations{};  // of each target: a scaled error times this is in original units
  int64_t window = 0, horizon = 0;
  int64_t first = 0, count = 0;
  int64_t season = 0;  // steps; 0: none is known
  // With `season` the model sees and forecasts changes over a season, both in units of their own spread in the training
  // part (per column), so that a level or a time of year that training never saw looks like any other.
  TargetBase base = TargetBase::none;
  std::vector<double> change_deviations{};  // of each column, for `season`; empty: 1

  double value(int64_t step, int64_t column) const { return values[static_cast<size_t>(step * columns + column)]; }
  // The first step that window i has to forecast.
  int64_t origin(int64_t i) const { return first + i + window; }
  // What one unit of a target is in scaled units.
  double target_unit(int64_t column) const {
    return change_deviations.empty() ? 1 : change_deviations[static_cast<size_t>(column)];
  }
  // What the model sees of a column at a step.
  double seen(int64_t step, int64_t column) const {
    if (base != TargetBase::season) return value(step, column);
    return (value(step, column) - value(step - season, column)) / target_unit(column);
  }
  // The naive forecast of a column `step` steps after `origin`.
  double naive(TargetBase from, int64_t origin, int64_t step, int64_t column) const {
    switch (from) {
      case TargetBase::last: return value(origin - 1, column);
      case TargetBase::season: return value(origin + step - season * (step / season + 1), column);
      case TargetBase::none: break;
    }
    return 0;
  }
};

}  // namespace gpusizer
