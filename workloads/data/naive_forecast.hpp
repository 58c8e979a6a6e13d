// SPDX-License-Identifier: Apache-2.0
// Forecasts that need no model: the last value stays, or the season repeats. A model has to be better than both.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "workloads/data/series_windows.hpp"

namespace gpusizer {

// Mean absolute and mean squared errors over all windows, steps of the horizon and targets, in the units of
// the targets that the model is given, by name:
//   persistence_mae, persistence_mse                 the last value before the forecast, repeated
//   seasonal_naive_mae, seasonal_naive_mse           the value one season before, or as many seasons as it takes to be
//                                                    before the forecast; from the true series, also before the window
//   persistence_mae_original, seasonal_naive_mae_original   in the target's own units
//   target_deviation                                 original units of one scaled unit, to convert a model's error
// (Hyndman, Athanasopoulos: "Forecasting: Principles and Practice", 3rd edition, section 5.2.) The seasonal ones are
// left out when no season is known or the first window has less than a season before it; those in original units when
// there are several targets, whose units may differ. Seasons are counted in steps, as if there were no gaps.
std::vector<std::pair<std::string, double>> naive_forecasts(const SeriesWindows& series);

}  // namespace gpusizer
