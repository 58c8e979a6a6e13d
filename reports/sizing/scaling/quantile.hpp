// SPDX-License-Identifier: Apache-2.0
// Quantiles of a list of numbers, and Student's t for the intervals of few anchors.
#pragma once

#include <span>
#include <utility>
#include <vector>

namespace gpusizer::scaling {

// By linear interpolation between order statistics (type 7 of Hyndman & Fan, 1996); 0 <= share <= 1, no empty list.
double quantile(std::vector<double> values, double share);
double median(std::vector<double> values);

// The smallest value at which the weights of the values up to it reach `share` of all. Pairs of (value, weight), not empty.
double weighted_quantile(std::vector<std::pair<double, double>> values, double share);

// The x with P(T <= x) = p for Student's t with a whole number of degrees of freedom, by the closed form of its
// distribution (Abramowitz & Stegun 26.7.3 and 26.7.4) and bisection; 0.5 <= p < 1, degrees >= 1.
double student_quantile(double p, int degrees);

}  // namespace gpusizer::scaling
