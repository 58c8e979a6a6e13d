// SPDX-License-Identifier: Apache-2.0
// The executed-sample audit: what a throughput counts, in one place.
#pragma once

#include <cstdint>
#include <span>

namespace gpusizer {

// One finished training step, as the measuring loop saw it.
struct ExecutedStep {
  std::int64_t samples = 0;    // real samples that went through it; a padded sample is never one
  double seconds = 0;          // monotonic wall time from the end of the step before to the end of this one
  double data_wait_seconds = 0;  // of these, waiting for the loader
  bool tail = false;           // the smaller last batch of an epoch, run by its own program
  std::int64_t bucket = 0;     // of the data: each has programs of its own
  std::int64_t real_tokens = 0, padded_tokens = 0;  // of text
  bool skipped = false;        // its update was: nothing was learned from its samples
};

struct AuditedWork {
  std::int64_t steps = 0;
  std::int64_t tail_steps = 0;
  std::int64_t skipped_steps = 0;  // their time counts, their samples do not; not among `steps`
  std::int64_t samples = 0;
  std::int64_t real_tokens = 0, padded_tokens = 0;
  double seconds = 0;
  double data_wait_seconds = 0;

  double samples_per_second() const { return static_cast<double>(samples) / seconds; }  // not for seconds == 0
};

// Sums steps. Only steps that finished are in the list, so only executed work counts: throughput is the sum of samples
// over the sum of seconds, never a mean of per-step rates. Tail steps are part of the sums with their real samples, but
// not of the series of step times that decides on warm-up, interval and stopping: they are shorter by construction.
// Skipped steps cost their time and are credited with nothing.
// Throws std::invalid_argument for a step without samples, or with a time that is negative or not finite.
AuditedWork audit(std::span<const ExecutedStep> steps);

// How an epoch is divided: `full_steps` steps of `batch` samples, then one of `tail_samples` unless that is 0.
struct EpochShape {
  std::int64_t full_steps = 0;
  std::int64_t tail_samples = 0;

  std::int64_t steps() const { return full_steps + (tail_samples > 0 ? 1 : 0); }
};
EpochShape epoch_shape(std::int64_t dataset_samples, std::int64_t batch, bool keep_tail);

}  // namespace gpusizer
