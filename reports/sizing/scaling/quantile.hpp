// SPDX-License-Identifier: Apache-2.0
// Quantiles of a list of numbers, also of weighted ones.
#pragma once

#include <utility>
#include <vector>

#include "reports/record/statistics.hpp"

namespace gpusizer::scaling {

using record::median;
using record::quantile;

// The smallest value at which the weights of the values up to it reach `share` of all. Pairs of (value, weight), not empty.
double weighted_quantile(std::vector<std::pair<double, double>> values, double share);

}  // namespace gpusizer::scaling
