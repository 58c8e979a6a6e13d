// SPDX-License-Identifier: Apache-2.0
// Plain descriptive statistics. When to stop measuring and how sure one may be is decided elsewhere (bench).
#pragma once

#include <span>

#include "reports/record/measurement.hpp"

namespace gpusizer::record {

// All throw Error(Fault::failed) on an empty range: there is no number that could stand for "none".
double mean(std::span<const double> values);
double minimum(std::span<const double> values);
double maximum(std::span<const double> values);
double median(std::span<const double> values);

// Linear interpolation between the two nearest ranks (type 7 of Hyndman and Fan 1996, "Sample quantiles in
// statistical packages", the default of R and NumPy). `share` is 0 to 1.
double quantile(std::span<const double> values, double share);

// Sample standard deviation (n - 1 below the line); needs two values.
double standard_deviation(std::span<const double> values);

// Mean, sd, p50 and p95 of the measured steps, that is of step_seconds without its first warmup_steps.
// What cannot be computed becomes missing with its reason.
void fill_step_summary(Measurement& measurement);

}  // namespace gpusizer::record
