// SPDX-License-Identifier: Apache-2.0
// Non-negative least squares by trying each set of columns; the best one without a negative coefficient is the answer.
#include "reports/sizing/scaling/nnls.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace gpusizer::scaling {
namespace {

using Matrix = std::array<Coefficients, most_columns>;

struct Normal {
  Matrix matrix{};         // features^T features
  Coefficients targets{};  // features^T target
};

Normal normal_equations(std::span<const Equation> equations, std::size_t columns) {
  Normal normal;
  for (const Equation& one : equations)
    for (std::size_t i = 0; i < columns; ++i) {
      normal.targets[i] += one.features[i] * one.target;
      for (std::size_t j = 0; j < columns; ++j) normal.matrix[i][j] += one.features[i] * one.features[j];
    }
  return normal;
}

// Gaussian elimination on the chosen columns; false when they depend on each other.
bool solve_chosen(Normal normal, unsigned chosen, std::size_t columns, Coefficients& solution) {
  auto& [a, b] = normal;
  for (std::size_t i = 0; i < columns; ++i)
    if (!(chosen >> i & 1U)) {
      for (std::size_t j = 0; j < columns; ++j) a[i][j] = a[j][i] = 0;
      a[i][i] = 1;
      b[i] = 0;
    }
  for (std::size_t k = 0; k < columns; ++k) {  // positive definite: no pivoting is needed
    if (!(a[k][k] > 1e-14)) return false;
    for (std::size_t i = k + 1; i < columns; ++i) {
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < columns; ++j) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = columns; k-- > 0;) {
    for (std::size_t j = k + 1; j < columns; ++j) b[k] -= a[k][j] * solution[j];
    solution[k] = b[k] / a[k][k];
  }
  return true;
}

double squared_error(std::span<const Equation> equations, const Coefficients& x, std::size_t columns) {
  double sum = 0;
  for (const Equation& one : equations) {
    double difference = -one.target;
    for (std::size_t i = 0; i < columns; ++i) difference += one.features[i] * x[i];
    sum += difference * difference;
  }
  return sum;
}

}  // namespace

Coefficients solve_nnls(std::span<const Equation> equations, std::size_t columns) {
  const Normal normal = normal_equations(equations, columns);
  Coefficients best{};
  double least = squared_error(equations, best, columns);
  for (unsigned chosen = 1; chosen < 1U << columns; ++chosen) {
    Coefficients x{};
    if (!solve_chosen(normal, chosen, columns, x)) continue;
    bool negative = false;
    for (const double value : x) negative = negative || !(value >= 0);
    if (negative) continue;
    const double error = squared_error(equations, x, columns);
    if (error < least) best = x, least = error;
  }
  return best;
}

}  // namespace gpusizer::scaling
