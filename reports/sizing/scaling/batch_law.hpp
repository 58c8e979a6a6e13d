// SPDX-License-Identifier: Apache-2.0
// How the time of a step depends on the batch: a + c B, through the two nearest measured batches.
#pragma once

#include <span>

namespace gpusizer::scaling {

// a: launches, the update and exposed communication; c: the work on each sample.
struct AffineBatch {
  double fixed_seconds = 0, seconds_per_sample = 0;

  double seconds(double batch) const { return fixed_seconds + seconds_per_sample * batch; }
  double throughput(double batch) const { return batch / seconds(batch); }
  double most_throughput() const { return 1 / seconds_per_sample; }
  // The batch at which `share` of most_throughput() is reached: B = share / (1 - share) a / c.
  double batch_for(double share) const { return share / (1 - share) * fixed_seconds / seconds_per_sample; }
};

struct BatchPoint {
  double batch = 0, seconds = 0;
};

// The step time at `batch` by the line through the two points nearest in ratio, but at least half of the nearest point's
// time scaled by min(1, B / its batch). With one point the time is proportional to the batch above it and constant below.
// Throws Error(input) without points, or for a batch or time that is not above 0.
double seconds_at_batch(std::span<const BatchPoint> points, double batch);

// Scale of the interval of seconds_at_batch(): 0.03 and how far it is, as a logarithm, from the line through all points.
double batch_scale(std::span<const BatchPoint> points, double batch);

// All points by relative least squares, no coefficient below 0.
AffineBatch fit_affine(std::span<const BatchPoint> points);

// The largest batch whose memory need, a line through two measured peaks, stays within 94 % of the device's memory;
// below 1 means that nothing fits.
double largest_batch(const BatchPoint& one_bytes, const BatchPoint& other_bytes, double device_bytes);

inline constexpr double usable_memory_share = 0.94;

}  // namespace gpusizer::scaling
