// SPDX-License-Identifier: Apache-2.0
// Steps of several kinds (texts of several lengths) as one series, so that their mix is not taken for noise.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gpusizer {

// Each time multiplied by (mean of all steps' group medians) / (median of its own group): what is left is how a step
// differs from its own kind, around the mean step of the mix that was run. How often each kind comes is a property of
// the data and is known; without this, rare long steps would look like stalls and a mixed series would never settle.
// The times themselves when there is one group only, or a group's median is 0. `groups[i]` is the group of step i.
std::vector<double> level_groups(std::span<const double> step_seconds, std::span<const std::int64_t> groups);

}  // namespace gpusizer
