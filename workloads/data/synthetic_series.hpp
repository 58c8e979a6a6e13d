// SPDX-License-Identifier: Apache-2.0
// Made-up hourly series for timing and trials: days and weeks in noise that has a memory, no files.
#pragma once

#include <memory>

#include "workloads/data/data_options.hpp"

namespace gpusizer {

// Each feature is a daily and a weekly wave, plus noise of first order (autoregressive, 0.9) of which one part is
// common to all features; mean 0 and deviation 1 by construction, so nothing is scaled. The test split is a later
// stretch of the same waves. Defaults: 8 features, window 96, horizon 24, the first feature to forecast (targets and
// columns by name are refused: there are no names), 24,425 training and 6,990 test samples, as from four years. Of
// more than 65,536 samples the windows repeat.
std::unique_ptr<SampleSource> open_synthetic_series(const DataOptions& options);

}  // namespace gpusizer
