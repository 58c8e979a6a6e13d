// SPDX-License-Identifier: Apache-2.0
// A second opinion on a change: the energy statistic of E-divisive (Matteson and James 2014), which sees shapes too.
#pragma once

#include <cstddef>
#include <span>

namespace gpusizer::ci {

// Q(X, Y) = 2/(m+n) sum_ij |x_i - y_j| - 2m/((m+n)(n-1)) sum_{i<k} |x_i - x_k| - 2n/((m+n)(m-1)) sum_{j<k} |y_j - y_k|
// for n values x and m values y, two each at least. Larger: less alike. No alarm is raised on it.
double energy_between(std::span<const double> x, std::span<const double> y);

// The window [0, end) and the place in it with the largest Q; at = 0 when there are fewer than 4 values.
struct EnergySplit {
  std::size_t at = 0, end = 0;
  double q = 0;
};
EnergySplit strongest_energy_split(std::span<const double> series);

}  // namespace gpusizer::ci
