// SPDX-License-Identifier: Apache-2.0
// Student's t and chi-square by the incomplete beta and gamma functions, inverted by bisection: slow, plain and sure.
#include "reports/record/distributions.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

namespace gpusizer::record {
namespace {

constexpr double kTiny = 1e-300;
constexpr double kPrecision = 1e-16;
constexpr int kMaxTerms = 10'000;

double away_from_zero(double x) { return std::abs(x) < kTiny ? kTiny : x; }

// The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by Lentz's method.
double beta_fraction(double a, double b, double x) {
  double c = 1.0, d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0)), value = d;
  for (int m = 1; m < kMaxTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1.0 / away_from_zero(1.0 + even * d);
    c = away_from_zero(1.0 + even / c);
    value *= c * d;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1.0 / away_from_zero(1.0 + odd * d);
    c = away_from_zero(1.0 + odd / c);
    value *= c * d;
    if (std::abs(c * d - 1.0) < kPrecision * 10) break;
  }
  return value;
}

// log |Gamma(x)| without the global sign variable that std::lgamma writes (a data race between threads).
double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

double regularized_beta(double a, double b, double x) {
  if (x <= 0.0) return 0.0;
  if (x >= 1.0) return 1.0;
  const double front =
      std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) + b * std::log1p(-x));
  // The fraction converges fast only on this side; the other side follows from the symmetry.
  if (x < (a + 1.0) / (a + b + 2.0)) return front * beta_fraction(a, b, x) / a;
  return 1.0 - front * beta_fraction(b, a, 1.0 - x) / b;
}

double gamma_series(double a, double x) {
  double term = 1.0 / a, sum = term;
  for (int k = 1; k < kMaxTerms && term > sum * kPrecision; ++k) sum += term *= x / (a + k);
  return sum;
}

double gamma_fraction(double a, double x) {
  double b = x + 1.0 - a, c = 1.0 / kTiny, d = 1.0 / away_from_zero(b), value = d;
  for (int k = 1; k < kMaxTerms; ++k) {
    const double an = -k * (k - a);
    b += 2.0;
    d = 1.0 / away_from_zero(an * d + b);
    c = away_from_zero(b + an / c);
    value *= c * d;
    if (std::abs(c * d - 1.0) < kPrecision * 10) break;
  }
  return value;
}

double regularized_gamma(double a, double x) {
  if (x <= 0.0) return 0.0;
  const double front = std::exp(a * std::log(x) - x - log_gamma(a));
  return x < a + 1.0 ? front * gamma_series(a, x) : 1.0 - front * gamma_fraction(a, x);
}

void require(bool ok) {
  if (!ok) throw std::domain_error("quantile outside of its domain");
}

// The x in [low, inf) where the growing function `cdf` reaches p.
double invert(const std::function<double(double)>& cdf, double p, double low) {
  double high = low + 1.0;
  while (cdf(high) < p && high < std::numeric_limits<double>::max() / 4) high = low + (high - low) * 2.0;
  for (int i = 0; i < 200 && high - low > kPrecision * std::abs(high); ++i) {
    const double middle = low + (high - low) / 2;
    (cdf(middle) < p ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

}  // namespace

double student_t_cdf(double x, double degrees) {
  const double tail = 0.5 * regularized_beta(degrees / 2, 0.5, degrees / (degrees + x * x));
  return x >= 0 ? 1.0 - tail : tail;
}

double student_t_quantile(double p, double degrees) {
  require(p > 0 && p < 1 && degrees > 0);
  if (p < 0.5) return -student_t_quantile(1.0 - p, degrees);
  if (p == 0.5) return 0.0;
  return invert([&](double x) { return student_t_cdf(x, degrees); }, p, 0.0);
}

double chi_square_cdf(double x, double degrees) { return regularized_gamma(degrees / 2, x / 2); }

double chi_square_quantile(double p, double degrees) {
  require(p > 0 && p < 1 && degrees > 0);
  return invert([&](double x) { return chi_square_cdf(x, degrees); }, p, 0.0);
}

}  // namespace gpusizer::record
