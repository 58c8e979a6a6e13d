// SPDX-License-Identifier: Apache-2.0
// Sums of executed steps.
#include "bench/audit.hpp"

#include <cmath>
#include <stdexcept>

namespace gpusizer {

AuditedWork audit(std::span<const ExecutedStep> steps) {
  AuditedWork work;
  for (const ExecutedStep& step : steps) {
    if (step.samples <= 0 || !std::isfinite(step.seconds) || step.seconds < 0)
      throw std::invalid_argument("an executed step has samples and a time that is finite and not negative");
    work.seconds += step.seconds;
    work.data_wait_seconds += step.data_wait_seconds;
    if (step.skipped) {
      ++work.skipped_steps;
      continue;
    }
    work.steps += 1;
    work.tail_steps += step.tail ? 1 : 0;
    work.samples += step.samples;
    work.real_tokens += step.real_tokens;
    work.padded_tokens += step.padded_tokens;
  }
  return work;
}

EpochShape epoch_shape(std::int64_t dataset_samples, std::int64_t batch, bool keep_tail) {
  return {.full_steps = dataset_samples / batch, .tail_samples = keep_tail ? dataset_samples % batch : 0};
}

}  // namespace gpusizer
