// SPDX-License-Identifier: Apache-2.0
// Medians by group, and the factors that bring the groups to one level.
#include "bench/stopping/groups.hpp"

#include <map>

#include "reports/record/statistics.hpp"

namespace gpusizer {

std::vector<double> level_groups(std::span<const double> step_seconds, std::span<const std::int64_t> groups) {
  std::vector<double> level(step_seconds.begin(), step_seconds.end());
  std::map<std::int64_t, std::vector<double>> times;
  for (std::size_t i = 0; i < level.size(); ++i) times[groups[i]].push_back(level[i]);
  if (times.size() < 2) return level;
  std::map<std::int64_t, double> medians;
  double mean = 0;
  for (const auto& [group, seconds] : times) {
    medians[group] = record::median(seconds);
    if (!(medians[group] > 0)) return level;
    mean += medians[group] * static_cast<double>(seconds.size()) / static_cast<double>(level.size());
  }
  for (std::size_t i = 0; i < level.size(); ++i) level[i] *= mean / medians[groups[i]];
  return level;
}

}  // namespace gpusizer
