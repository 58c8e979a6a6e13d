// SPDX-License-Identifier: Apache-2.0
// Constant, or cosine with a linear rise before it.
#include "bench/runner/learning_rate.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gpusizer {

double LearningRate::at(std::int64_t step) const {
  if (!cosine) return highest;
  if (step < warmup_steps) return highest * static_cast<double>(step + 1) / static_cast<double>(warmup_steps);
  const auto falling = static_cast<double>(std::max<std::int64_t>(total_steps - warmup_steps, 1));
  const double done = std::min(static_cast<double>(step - warmup_steps) / falling, 1.0);
  return highest * 0.5 * (1 + std::cos(std::numbers::pi * done));
}

}  // namespace gpusizer
