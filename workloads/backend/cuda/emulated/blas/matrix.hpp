// SPDX-License-Identifier: Apache-2.0
// Matrices as cuBLAS sees them: by columns, with a leading dimension, perhaps many at a stride; checked before use.
#pragma once

#include <cublas_v2.h>

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/backend/cuda/emulated/numbers/element.hpp"

namespace gpusizer::emulated {

struct Matrix {
  void* data = nullptr;
  Element type = Element::unknown;
  int64_t rows = 0, columns = 0;  // as stored
  int64_t leading = 0;
  int64_t stride = 0;  // elements from one matrix of a batch to the next
  int64_t batch = 1;
  bool transposed = false;  // used as its transpose

  int64_t index(int64_t row, int64_t column) const { return row + column * leading; }
  int64_t used_rows() const { return transposed ? columns : rows; }
  int64_t used_columns() const { return transposed ? rows : columns; }
  // One past the last element of the whole batch; 0 for an empty one.
  int64_t extent() const;
  Matrix at(int64_t which) const;  // one of the batch
};

Element element_of(cudaDataType type);

// op(a) op(b) in float, by columns. With tf32, elements are rounded to it first.
std::vector<float> product(const Matrix& a, const Matrix& b, bool tf32);

// "" or which matrix is not wholly memory of the device: what a leading dimension that is too large leads to.
std::string outside_memory(const std::vector<Matrix>& matrices, int device);

// Counts the call of a cuBLAS or cublasLt function; a failure that a test planted, or success.
cublasStatus_t planted_blas_failure(const char* function);
// Remembers that an error was returned; "not supported" is an answer and no error.
cublasStatus_t blas_status(const char* function, cublasStatus_t status);

}  // namespace gpusizer::emulated
