// SPDX-License-Identifier: Apache-2.0
// New runs against the runs before: how far their mean moved, how sure that is, and what could have been seen.
#pragma once

#include <cstddef>
#include <span>

namespace gpusizer::ci {

// One run gives one number; steps inside a run are no repetitions of it. All numbers here are on one scale, most
// often natural logarithms, so that `shift` is a relative change: exp(shift) - 1.
struct RunsTest {
  std::size_t base_runs = 0, new_runs = 0;
  double base_mean = 0, new_mean = 0;
  double noise = 0;              // standard deviation between runs
  double freedom = 0;            // its degrees of freedom
  double error = 0;              // of the shift: noise * sqrt(1/k + 1/h)
  double shift = 0;              // new_mean - base_mean
  double t = 0;                  // shift / error
  double p_above = 1, p_below = 1;  // one-sided: that unchanged code gives such a shift upwards, downwards
  double low = 0, high = 0;      // 95 % interval of the shift
};

// The noise comes from the base alone (h - 1 degrees of freedom): a history is long and the new runs are few.
// `noise_floor` is the least noise to believe in. Needs two base runs and one new one.
RunsTest test_against_history(std::span<const double> base, std::span<const double> fresh, double noise_floor);

// The noise comes from both sides (h + k - 2 degrees of freedom), for a base too short to stand alone.
RunsTest test_pooled(std::span<const double> base, std::span<const double> fresh, double noise_floor);

// The smallest true shift that is found with the probability `power` at the one-sided level `alpha`:
// error * (t_alpha + t_power). "No change was found" is worth no more than this number.
double smallest_visible_shift(const RunsTest& test, double alpha = 0.001, double power = 0.95);

// 1.4826 times the median distance from the median (MAD): the standard deviation of a normal distribution, whatever a few
// values do. Throws Error(failed) where there are none.
double robust_spread(std::span<const double> values);

// Standard deviation between runs from the differences of neighbours: 1.4826 median |d - median d| / sqrt(2). Level
// shifts in the series hardly touch it. Needs 3 values.
double noise_of_neighbours(std::span<const double> series);

// Values beyond `limit` times 1.4826 MAD from the median. None when more than half of the values are equal.
std::size_t count_outliers(std::span<const double> values, double limit);

}  // namespace gpusizer::ci
