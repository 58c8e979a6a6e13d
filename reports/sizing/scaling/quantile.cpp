// SPDX-License-Identifier: Apache-2.0
// Order statistics with weights.
#include "reports/sizing/scaling/quantile.hpp"

#include <algorithm>

namespace gpusizer::scaling {

double weighted_quantile(std::vector<std::pair<double, double>> values, double share) {
  std::sort(values.begin(), values.end());
  double all = 0, sum = 0;
  for (const auto& [value, weight] : values) all += weight;
  for (const auto& [value, weight] : values) {
    sum += weight;
    if (sum >= share * all) return value;
  }
  return values.back().first;
}

}  // namespace gpusizer::scaling
