// SPDX-License-Identifier: Apache-2.0
// How far predictions are off, by situation: half widths of 90 % intervals from back-tests, never from a fit's residuals.
#pragma once

#include <string_view>

namespace gpusizer::scaling {

// What a prediction had to bridge.
enum class Reach {
  inside,      // counts on both sides were measured
  same_tier,   // beyond the largest measured count, on no new kind of network
  new_tier,    // several nodes from measurements on one node
  batch_inside,
  batch_beyond,
  precision,   // composed from one GPU in that precision
  gpu_anchors,     // other workloads were measured on the target GPU
  gpu_no_anchors,  // nothing was
};
std::string_view to_word(Reach reach);

// Where a figure comes from, for people and programs: the order is that of trust.
enum class Evidence { measured, interpolated, extrapolated, predicted };
std::string_view to_word(Evidence evidence);

// The half width of the log rate is this times the scale of the prediction: sqrt(sd) for counts (the posterior sd orders
// predictions but is too narrow for good series and too wide for the first node), the sd for GPUs, batch_scale() for
// batches, 1 for precisions.
// Learned on eight public sources, each of them with the same weight per square root of its points.
double shipped_factor(Reach reach);

// Back-test, noise of the measurements behind it and difference between machines of one kind, in quadrature. The last is
// 3 % (sd) until it was measured; both are relative sds.
double combined_half_width(double backtest_half_width, double noise_sd, double machine_sd = 0.03);

}  // namespace gpusizer::scaling
