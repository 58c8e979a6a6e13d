// SPDX-License-Identifier: Apache-2.0
// Student's t distribution: how surprising a difference is when its noise was itself estimated from few runs.
#pragma once

namespace gpusizer::ci {

// P(T > t) with `df` degrees of freedom. df is above 0; throws Error(Fault::failed) otherwise.
double student_t_above(double t, double df);

// The t with P(T > t) = share, 0 < share < 1.
double student_t_limit(double share, double df);

}  // namespace gpusizer::ci
