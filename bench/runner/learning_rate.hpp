// SPDX-License-Identifier: Apache-2.0
// The learning rate of each step.
#pragma once

#include <cstdint>

namespace gpusizer {

enum class Schedule : std::uint8_t { constant, cosine, linear, step };

struct LearningRate {
  double highest = 0.1;
  Schedule schedule = Schedule::constant;
  std::int64_t total_steps = 0;   // where the schedule ends; not needed for a constant rate
  std::int64_t warmup_steps = 0;  // rises linearly during these; not with a constant rate

  // Of the step with this number, counted from 0: highest (s+1)/w while rising; then, with d the share of the rest that is
  // done, cosine: highest (1 + cos(pi d))/2 (Loshchilov and Hutter 2016); linear: highest (1 - d);
  // step: a tenth from d = 1/2 and a hundredth from d = 3/4 on (He et al. 2015).
  double at(std::int64_t step) const;
};

}  // namespace gpusizer
