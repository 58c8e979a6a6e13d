// SPDX-License-Identifier: Apache-2.0
// Matrices for the tests of cuBLAS: values by row and column, and their product in double.
#pragma once

#include <cstddef>
#include <vector>

namespace gpusizer::emulated {

// By columns, `leading` elements from one column to the next; what is between the columns is never looked at.
struct TestMatrix {
  int rows, columns, leading;
  std::vector<float> values;

  TestMatrix(int r, int c, int ld, int seed) : rows(r), columns(c), leading(ld), values(static_cast<size_t>(ld * c)) {
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i * 7 + seed * 5) % 13) / 4 - 1.5f;
  }
  float at(int row, int column) const { return values[static_cast<size_t>(row + column * leading)]; }
};

inline double product_at(const TestMatrix& a, bool transpose_a, const TestMatrix& b, bool transpose_b, int row,
                         int column) {
  double sum = 0;
  for (int p = 0; p < (transpose_a ? a.rows : a.columns); ++p)
    sum += static_cast<double>(transpose_a ? a.at(p, row) : a.at(row, p)) *
           static_cast<double>(transpose_b ? b.at(column, p) : b.at(p, column));
  return sum;
}

}  // namespace gpusizer::emulated
