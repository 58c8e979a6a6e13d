// SPDX-License-Identifier: Apache-2.0
// One matrix product through oneDNN on addresses that are given when it runs: for kernels made of several products.
#pragma once

#include <optional>

#include "workloads/backend/cpu/kernel.hpp"
#include "workloads/backend/cpu/primitive_kernel.hpp"

namespace gpusizer::cpu {

// c = a b. Each is a row-major [rows, columns] matrix, or the transpose of one.
class MatrixProduct {
 public:
  struct Operand {
    int64_t rows, columns;    // as the product sees it
    bool transposed = false;  // in memory it lies as [columns, rows]
  };
  MatrixProduct(const Engine& engine, const Operand& a, const Operand& b, const Operand& c);

  int64_t scratch_bytes() const;
  void bind(std::byte* scratch);
  void run(const float* a, const float* b, float* c);

 private:
  const Engine& engine_;
  dnnl::matmul::primitive_desc description_;
  dnnl::memory a_, b_, c_;
  std::optional<BoundPrimitive> primitive_;
};

}  // namespace gpusizer::cpu
