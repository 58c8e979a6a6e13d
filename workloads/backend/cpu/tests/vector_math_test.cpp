// SPDX-License-Identifier: Apache-2.0
// The vector functions against the standard library's, as compiled for the instruction set that this file is.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "workloads/backend/cpu/vector/math.inc"

namespace {

double worst_relative_error(Vec (*function)(Vec), double (*wanted)(double), double low, double high) {
  double worst = 0;
  constexpr int points = 40000;
  for (int i = 0; i < points; ++i) {
    const auto x = static_cast<float>(low + (high - low) * i / points);
    const double want = wanted(x), got = function(splat(x))[lanes - 1];
    worst = std::max(worst, std::abs(got - want) / std::max(std::abs(want), 1e-37));
  }
  return worst;
}

double logistic_of(double x) { return 1 / (1 + std::exp(-x)); }
double normal_of(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

TEST(VectorMath, StaysBelowItsError) {
  EXPECT_LT(worst_relative_error(exponential, std::exp, -87, 88.7), 2e-7);
  EXPECT_LT(worst_relative_error(exponential_minus_one, std::expm1, -20, 20), 3e-7);
  EXPECT_LT(worst_relative_error(exponential_minus_one, std::expm1, -1e-3, 1e-3), 3e-7);
  EXPECT_LT(worst_relative_error(logistic, logistic_of, -80, 80), 3e-7);
  EXPECT_LT(worst_relative_error(hyperbolic_tangent, std::tanh, -20, 20), 4e-7);
  EXPECT_LT(worst_relative_error(hyperbolic_tangent, std::tanh, -1e-3, 1e-3), 4e-7);
  EXPECT_LT(worst_relative_error(error_function, std::erf, -6, 6), 1e-6);
  EXPECT_LT(worst_relative_error(normal_distribution, normal_of, -5.6, 6), 8e-6);
}

TEST(VectorMath, EndsOfTheRange) {
  const auto at = [](Vec (*function)(Vec), float x) { return function(splat(x))[0]; };
  EXPECT_EQ(at(exponential, 89), INFINITY);
  EXPECT_EQ(at(exponential, 1e30f), INFINITY);
  EXPECT_EQ(at(exponential, -INFINITY), 0);
  EXPECT_EQ(at(exponential, 0), 1);
  EXPECT_EQ(at(logistic, -1e30f), 0);
  EXPECT_EQ(at(logistic, INFINITY), 1);
  EXPECT_EQ(at(hyperbolic_tangent, -INFINITY), -1);
  EXPECT_EQ(at(hyperbolic_tangent, 0), 0);
  EXPECT_EQ(at(error_function, 100), 1);
  EXPECT_EQ(at(normal_distribution, -100), 0);
  for (auto* function : {exponential, logistic, hyperbolic_tangent, error_function, normal_distribution})
    EXPECT_TRUE(std::isnan(at(function, NAN)));
}

}  // namespace
