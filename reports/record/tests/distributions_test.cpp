// SPDX-License-Identifier: Apache-2.0
// Quantiles against published tables, including degrees of freedom that are not whole.
#include "reports/record/distributions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace gpusizer::record {
namespace {

TEST(Distributions, StudentTOfTheTables) {
  EXPECT_NEAR(student_t_quantile(0.975, 1), 12.7062, 1e-4);
  EXPECT_NEAR(student_t_quantile(0.975, 3), 3.18245, 1e-5);
  EXPECT_NEAR(student_t_quantile(0.975, 10), 2.22814, 1e-5);
  EXPECT_NEAR(student_t_quantile(0.95, 30), 1.69726, 1e-5);
  EXPECT_NEAR(student_t_quantile(0.999, 5), 5.89343, 1e-5);
  EXPECT_NEAR(student_t_quantile(0.975, 1e7), 1.959964, 1e-5);
}

TEST(Distributions, StudentTOfBrokenDegrees) {
  EXPECT_NEAR(student_t_quantile(0.975, 16.207), 2.1177, 1e-4);
  EXPECT_NEAR(student_t_quantile(0.975, 8.5), 2.2826, 1e-4);
}

TEST(Distributions, StudentTIsSymmetric) {
  EXPECT_DOUBLE_EQ(student_t_quantile(0.1, 7.3), -student_t_quantile(0.9, 7.3));
  EXPECT_EQ(student_t_quantile(0.5, 7.3), 0.0);
}

TEST(Distributions, CauchyIsStudentTWithOneDegree) {
  const double pi = std::acos(-1.0);
  for (double p : {0.6, 0.9, 0.99, 0.9999}) EXPECT_NEAR(student_t_quantile(p, 1) / std::tan(pi * (p - 0.5)), 1, 1e-9);
}

TEST(Distributions, ChiSquareOfTheTables) {
  EXPECT_NEAR(chi_square_quantile(0.975, 2), 7.37776, 1e-5);
  EXPECT_NEAR(chi_square_quantile(0.95, 2), 5.99146, 1e-5);
  EXPECT_NEAR(chi_square_quantile(0.975, 4), 11.14329, 1e-5);
  EXPECT_NEAR(chi_square_quantile(0.025, 10), 3.24697, 1e-5);
  EXPECT_NEAR(chi_square_quantile(0.975, 202), 243.25, 0.01);
}

TEST(Distributions, QuantileAndCdfAreInverse) {
  for (double degrees : {0.7, 2.5, 40.0, 900.0})
    for (double p : {0.01, 0.3, 0.8, 0.999}) {
      EXPECT_NEAR(student_t_cdf(student_t_quantile(p, degrees), degrees), p, 1e-10);
      EXPECT_NEAR(chi_square_cdf(chi_square_quantile(p, degrees), degrees), p, 1e-10);
    }
}

TEST(Distributions, RefuseWhatHasNoAnswer) {
  EXPECT_THROW(student_t_quantile(1.0, 5), std::domain_error);
  EXPECT_THROW(student_t_quantile(0.9, 0), std::domain_error);
  EXPECT_THROW(chi_square_quantile(0.0, 5), std::domain_error);
  EXPECT_THROW(student_t_quantile(NAN, 5), std::domain_error);
}

}  // namespace
}  // namespace gpusizer::record
