// SPDX-License-Identifier: Apache-2.0
// Student's t by the incomplete beta function, its inverse by bisection.
#include "ci/evidence/student_t.hpp"

#include <cmath>

#include "gpusizer/error.hpp"

namespace gpusizer::ci {
namespace {

// A term too close to 0 would divide by it; the smallest normal number keeps the fraction going (Lentz).
double away_from_zero(double value) { return std::abs(value) < 1e-300 ? 1e-300 : value; }

// The continued fraction of the incomplete beta function.
double beta_fraction(double x, double a, double b) {
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), value = d;
  for (int m = 1; m < 500; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    for (const double term : {even, odd}) {
      d = 1 / away_from_zero(1 + term * d);
      c = away_from_zero(1 + term / c);
      value *= c * d;
    }
    if (std::abs(c * d - 1) < 1e-15) break;
  }
  return value;
}

double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);  // std::lgamma writes to a global
}

double incomplete_beta(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(x, a, b) / a;
  return 1 - front * beta_fraction(1 - x, b, a) / b;
}

}  // namespace

double student_t_above(double t, double df) {
  if (!(df > 0)) throw Error(Fault::failed, "Student's t needs at least one degree of freedom");
  if (std::isinf(t)) return t > 0 ? 0 : 1;
  const double tail = incomplete_beta(df / (df + t * t), df / 2, 0.5) / 2;
  return t >= 0 ? tail : 1 - tail;
}

double student_t_limit(double share, double df) {
  if (!(share > 0) || !(share < 1)) throw Error(Fault::failed, "a limit of Student's t needs a share between 0 and 1");
  if (share > 0.5) return -student_t_limit(1 - share, df);
  double low = 0, high = 1;
  while (student_t_above(high, df) > share && high < 1e12) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-13 * high; ++i) {
    const double middle = (low + high) / 2;
    (student_t_above(middle, df) > share ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace gpusizer::ci
