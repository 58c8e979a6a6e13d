// SPDX-License-Identifier: Apache-2.0
// Forecasters of time series: an LSTM, and a Transformer encoder over the window.
#pragma once

#include "workloads/models/models.hpp"

namespace gpusizer::forecaster {

// Inputs: "values" f32 [batch, window, features], "targets" f32 [batch, horizon]. Output "mae": the mean absolute error
// (with quantiles: of the middle one), in the units of the data that is fed.
Program lstm(const ModelEntry& entry, const ModelOptions& options, int64_t batch, Mode mode);
Program temporal(const ModelEntry& entry, const ModelOptions& options, int64_t batch, Mode mode);

}  // namespace gpusizer::forecaster
