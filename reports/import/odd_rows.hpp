// SPDX-License-Identifier: Apache-2.0
// Measurements that contradict others of the same workload.
#pragma once

#include "reports/import/published_rows.hpp"

namespace gpusizer::import {

// A speed-up over the smallest count of more than this times the growth of the count cannot be data-parallel training:
// noise is below it, a wrong number of GPUs or a per-GPU rate is above.
inline constexpr double most_speedup_per_gpu = 1.5;
// Rates per GPU of the same workload differ by less than this factor.
inline constexpr double farthest_neighbour = 50;

// Moves such rows from `rows` to `held_out`. A value far from the median of its workload's rates per GPU is held out first;
// then the counts that are too fast for the smallest one; where most of them are, it is the smallest that is wrong.
void hold_out_odd_rows(PublishedTable& table);

}  // namespace gpusizer::import
