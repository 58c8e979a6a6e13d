// SPDX-License-Identifier: Apache-2.0
// From the latencies of single requests to the figures that people ask for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace gpusizer {

// A percentile, or why there is none.
struct Percentile {
  std::optional<double> seconds;
  std::string reason;
};

// The fewest requests of which a percentile is told: one of them is beyond it.
constexpr std::int64_t requests_for(double share) { return static_cast<std::int64_t>(1 / (1 - share) + 0.5); }

// By nearest rank: the smallest latency that at least `share` of all requests do not exceed, a latency that really was.
// Nothing where there are fewer than requests_for(share) requests. `share` in (0, 1).
Percentile percentile(std::span<const double> latencies_seconds, double share);

}  // namespace gpusizer
