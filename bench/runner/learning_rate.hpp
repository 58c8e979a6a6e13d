// SPDX-License-Identifier: Apache-2.0
// The learning rate of each step.
#pragma once

#include <cstdint>

namespace gpusizer {

struct LearningRate {
  double highest = 0.1;
  bool cosine = false;            // false: always `highest`
  std::int64_t total_steps = 0;   // cosine: where it ends
  std::int64_t warmup_steps = 0;  // cosine: rises linearly during these

  // Of the step with this number, counted from 0. Cosine: highest (s+1)/w while rising, then
  // highest (1 + cos(pi (s-w)/(total-w)))/2, which is nearly 0 at the last step (Loshchilov and Hutter 2016).
  double at(std::int64_t step) const;
};

}  // namespace gpusizer
