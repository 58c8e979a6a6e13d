// SPDX-License-Identifier: Apache-2.0
// Matrices in device memory: their extent, their product, and what is wrong with them.
#include "workloads/backend/cuda/emulated/blas/matrix.hpp"

#include "workloads/backend/cuda/emulated/numbers/product.hpp"
#include "workloads/backend/cuda/emulated/runtime/task.hpp"

namespace gpusizer::emulated {
namespace {

// Reads as the product's inner dimension runs.
float element(const Matrix& m, int64_t row, int64_t column, bool tf32) {
  const int64_t index = m.transposed ? m.index(column, row) : m.index(row, column);
  const float value = read_element(m.type, m.data, index);
  return tf32 ? round_to_tf32(value) : value;
}

}  // namespace

int64_t Matrix::extent() const {
  if (rows == 0 || columns == 0 || batch == 0) return 0;
  return (batch - 1) * stride + (columns - 1) * leading + rows;
}

Matrix Matrix::at(int64_t which) const {
  Matrix one = *this;
  one.data = static_cast<char*>(data) + which * stride * static_cast<int64_t>(element_bytes(type));
  one.batch = 1;
  return one;
}

Element element_of(cudaDataType type) {
  switch (type) {
    case CUDA_R_32F:
      return Element::f32;
    case CUDA_R_64F:
      return Element::f64;
    case CUDA_R_16F:
      return Element::f16;
    case CUDA_R_16BF:
      return Element::bf16;
    default:
      return Element::unknown;
  }
}

std::vector<float> product(const Matrix& a, const Matrix& b, bool tf32) {
  const int64_t depth = a.used_columns();
  const auto left =
      pack_vectors(a.used_rows(), depth, left_tile, [&](int64_t row, int64_t p) { return element(a, row, p, tf32); });
  const auto right = pack_vectors(b.used_columns(), depth, right_tile,
                                  [&](int64_t column, int64_t p) { return element(b, p, column, tf32); });
  return inner_products(left, right);
}

std::string outside_memory(const std::vector<Matrix>& matrices, int device) {
  static const char* const names[] = {"A", "B", "C", "D"};
  for (size_t i = 0; i < matrices.size(); ++i) {
    const Matrix& m = matrices[i];
    const size_t bytes = static_cast<size_t>(m.extent()) * element_bytes(m.type);
    if (bytes && !is_device_memory(m.data, bytes, device))
      return std::string("matrix ") + names[i] + " of " + std::to_string(m.rows) + " x " + std::to_string(m.columns) +
             " with leading dimension " + std::to_string(m.leading) + " reaches outside the device's memory";
  }
  return "";
}

cublasStatus_t planted_blas_failure(const char* function) {
  const auto status = static_cast<cublasStatus_t>(planted_status(function));
  return blas_status(function, status);
}

}  // namespace gpusizer::emulated
