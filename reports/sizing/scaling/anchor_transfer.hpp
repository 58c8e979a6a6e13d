// SPDX-License-Identifier: Apache-2.0
// A workload's time on another GPU, from other workloads (anchors) that were measured on both GPUs.
#pragma once

#include <optional>
#include <span>

namespace gpusizer::scaling {

// One workload on both GPUs: measured seconds, and what a roofline says about each (0: no roofline).
struct Anchor {
  double source_seconds = 0, target_seconds = 0;
  double source_roofline = 0, target_roofline = 0;
};

struct Transfer {
  double seconds = 0;
  double low = 0, high = 0;  // 90 % interval
  double log_sd = 0;         // of one prediction
  int anchors = 0;
};

// How much of the roofline's ratio is believed; 0.5 was best on published measurements of four GPUs.
inline constexpr double roofline_weight = 0.5;

//   z_a = ln T(a,g)/T(a,s) - lambda ln R(a,g)/R(a,s)
//   ln T(w,g) = ln T(w,s) + mean(z) + lambda ln R(w,g)/R(w,s),   +- t_(0.95, k-1) sd(z) sqrt(1 + 1/k)
// For fewer than three anchors the sd is 0.10 and the quantile the normal one. lambda is 0 where a roofline is missing.
// Throws Error(input) without anchors or for times that are not above 0.
Transfer transfer(std::span<const Anchor> anchors, double source_seconds, std::optional<double> roofline_ratio,
                  double lambda = roofline_weight);

// Habitat's wave scaling (Yu et al., ATC 2021) of one kernel with a large grid: T_target / T_source, with bandwidths D,
// clocks C, multiprocessors S, and g = 1 - x / 2R for x <= R, else R / 2x: x FLOP per byte of the kernel, R the target's ridge.
struct WaveDevice {
  double bandwidth = 1, clock = 1, multiprocessors = 1;
};
double wave_exponent(double flop_per_byte, double ridge);
double wave_scaling(const WaveDevice& source, const WaveDevice& target, double exponent);

// Computing and communicating that overlap in part: (a^gamma + b^gamma)^(1/gamma); 1: not at all, large: fully.
double overlapped(double one_seconds, double other_seconds, double gamma);

}  // namespace gpusizer::scaling
