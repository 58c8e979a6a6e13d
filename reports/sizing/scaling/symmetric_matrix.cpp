// SPDX-License-Identifier: Apache-2.0
// A = L L^T, then L^-1, then A^-1 = L^-T L^-1; all loops run along rows.
#include "reports/sizing/scaling/symmetric_matrix.hpp"

#include <cmath>

#include "gpusizer/error.hpp"

namespace gpusizer::scaling {
namespace {

void decompose(SymmetricMatrix& a) {
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a.at(i, j);
      for (std::size_t k = 0; k < j; ++k) sum -= a.at(i, k) * a.at(j, k);
      if (i != j) {
        a.at(i, j) = sum / a.at(j, j);
      } else {
        if (!(sum > 0)) throw Error(Fault::failed, "a covariance is not positive definite");
        a.at(i, i) = std::sqrt(sum);
      }
    }
}

// The inverse of a lower triangle, transposed so that row i holds column i.
SymmetricMatrix inverted_columns(const SymmetricMatrix& lower) {
  const std::size_t n = lower.size();
  SymmetricMatrix columns(n);
  for (std::size_t c = 0; c < n; ++c) {
    columns.at(c, c) = 1 / lower.at(c, c);
    for (std::size_t i = c + 1; i < n; ++i) {
      double sum = 0;
      for (std::size_t k = c; k < i; ++k) sum -= lower.at(i, k) * columns.at(c, k);
      columns.at(c, i) = sum / lower.at(i, i);
    }
  }
  return columns;
}

}  // namespace

SymmetricMatrix inverse_of(SymmetricMatrix matrix) {
  decompose(matrix);
  const SymmetricMatrix columns = inverted_columns(matrix);
  const std::size_t n = matrix.size();
  SymmetricMatrix result(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i; j < n; ++j) {
      double sum = 0;
      for (std::size_t k = j; k < n; ++k) sum += columns.at(i, k) * columns.at(j, k);
      result.at(i, j) = result.at(j, i) = sum;
    }
  return result;
}

}  // namespace gpusizer::scaling
