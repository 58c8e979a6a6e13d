// SPDX-License-Identifier: Apache-2.0
// Constant, or a linear rise and then one of three ways down.
#include "bench/runner/learning_rate.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gpusizer {

double LearningRate::at(std::int64_t step) const {
  if (schedule == Schedule::constant) return highest;
  if (step < warmup_steps) return highest * static_cast<double>(step + 1) / static_cast<double>(warmup_steps);
  const auto falling = static_cast<double>(std::max<std::int64_t>(total_steps - warmup_steps, 1));
  const double done = std::min(static_cast<double>(step - warmup_steps) / falling, 1.0);
  switch (schedule) {
    case Schedule::cosine: return highest * 0.5 * (1 + std::cos(std::numbers::pi * done));
    case Schedule::linear: return highest * (1 - done);
    case Schedule::step: return highest * (done < 0.5 ? 1 : done < 0.75 ? 0.1 : 0.01);
    case Schedule::constant: break;
  }
  return highest;
}

}  // namespace gpusizer
