// SPDX-License-Identifier: Apache-2.0
// Student's t and chi-square, for intervals and for tests of differences.
#pragma once

namespace gpusizer::record {

// P(X <= x) for Student's t with `degrees` > 0 degrees of freedom, which need not be whole.
double student_t_cdf(double x, double degrees);

// The x with P(X <= x) = p; 0 < p < 1, degrees > 0. Throws std::domain_error outside of these.
double student_t_quantile(double p, double degrees);

// P(X <= x) for chi-square with `degrees` > 0; 0 for x <= 0.
double chi_square_cdf(double x, double degrees);

// The x with P(X <= x) = p; 0 < p < 1, degrees > 0. Throws std::domain_error outside of these.
double chi_square_quantile(double p, double degrees);

}  // namespace gpusizer::record
