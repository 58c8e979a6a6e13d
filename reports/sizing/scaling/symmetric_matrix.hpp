// SPDX-License-Identifier: Apache-2.0
// Symmetric positive definite matrices: as much as predicting over GPUs needs.
#pragma once

#include <cstddef>
#include <vector>

namespace gpusizer::scaling {

class SymmetricMatrix {
 public:
  explicit SymmetricMatrix(std::size_t size) : size_(size), values_(size * size) {}

  std::size_t size() const { return size_; }
  double& at(std::size_t row, std::size_t column) { return values_[row * size_ + column]; }
  double at(std::size_t row, std::size_t column) const { return values_[row * size_ + column]; }

 private:
  std::size_t size_;
  std::vector<double> values_;
};

// By Cholesky's decomposition. Throws Error(failed) when the matrix is not positive definite.
SymmetricMatrix inverse_of(SymmetricMatrix matrix);

}  // namespace gpusizer::scaling
