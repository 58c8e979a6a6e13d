// SPDX-License-Identifier: Apache-2.0
// Percentiles as nearest ranks.
#include "bench/serving/latencies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace gpusizer {

Percentile percentile(std::span<const double> latencies, double share) {
  const auto count = static_cast<std::int64_t>(latencies.size());
  if (const std::int64_t needed = requests_for(share); count < needed)
    return {std::nullopt, fmt::format("{} requests are too few, at least {} are needed", count, needed)};
  constexpr double rounding = 1e-9;  // 0.9 * 10 is a little more than 9
  const auto rank = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(count) - rounding));
  std::vector<double> sorted(latencies.begin(), latencies.end());
  const auto place = sorted.begin() + (rank - 1);
  std::ranges::nth_element(sorted, place);
  return {*place, ""};
}

}  // namespace gpusizer
