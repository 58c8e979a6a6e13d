// SPDX-License-Identifier: Apache-2.0
// Student's t distribution: how surprising a difference is when its noise was itself estimated from few runs.
#pragma once

namespace gpusizer::ci {

// P(T > t) with `df` degrees of freedom, through the regularised incomplete beta function (continued fraction,
// Abramowitz and Stegun 26.5.8 and 26.7.1). df is above 0; throws Error(Fault::failed) otherwise.
double student_t_above(double t, double df);

// The t with P(T > t) = share, 0 < share < 1; to about 1e-12 of its size.
double student_t_limit(double share, double df);

}  // namespace gpusizer::ci
