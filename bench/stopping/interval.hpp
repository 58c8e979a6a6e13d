// SPDX-License-Identifier: Apache-2.0
// How well is the mean step time known? A 95 % half-width that allows for steps that resemble their neighbours.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace gpusizer {

struct MeanInterval {
  std::int64_t samples = 0;
  double mean = 0;                // the unit of the series, as are all figures without a note
  double standard_deviation = 0;  // with n - 1
  double lag1 = 0;                // r0: measured lag-1 autocorrelation
  double lag1_corrected = 0;      // r: bias-corrected, within [0, 0.95]
  double ar1_degrees = 0;         // nu1
  double ar1_half_width = 0;      // h1
  std::int64_t batch = 0;         // b: length of the overlapping batches
  double batch_variance = 0;      // v
  double batch_degrees = 0;       // nu2
  double batch_half_width = 0;    // h2
  double half_width = 0;          // max(h1, h2)

  double relative() const { return half_width / mean; }
};

// r0 = sum (y_i - m)(y_{i+1} - m) / sum (y_i - m)^2; 0 for a constant series.
double lag1_autocorrelation(std::span<const double> y);

// The larger of two half-widths of the mean, at 95 %:
//   r  = clip(r0 + (1 + 4 max(r0,0))/n, 0, 0.95),  nu1 = max(3, n(1-r)/(1+r) - 1)
//   h1 = t_{0.975,nu1} s/sqrt(n) sqrt((1+r)/(1-r))                         (first-order autoregressive noise)
//   b  = floor(sqrt(n)),  v = n b/((n-b)(n-b+1)) sum (B_i - m)^2,  nu2 = 1.5(n/b - 1)
//   h2 = t_{0.975,nu2} sqrt(v/n)                                           (overlapping batch means)
// Below four samples both degrees of freedom are held to n - 1, so that few samples give a wide interval.
// Nothing for fewer than two samples: one number says nothing about its own spread.
std::optional<MeanInterval> mean_interval(std::span<const double> y);

}  // namespace gpusizer
