// SPDX-License-Identifier: Apache-2.0
// Matrix products of row-major matrices, single ones and many at once, through cuBLAS. Sums are f32.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "workloads/backend/cuda/module/kernels/array.hpp"
#include "workloads/backend/cuda/module/libraries.hpp"

namespace gpusizer::cuda {

// c [m, n] = a [m, k] b [k, n] + beta c. A transposed operand lies as [k, m] or [n, k]. A row begins every `stride` elements.
// f16 and bf16 operands make results of their own width or f32; tf32 operands use tensor cores, f32 ones do not.
struct MatrixShape {
  int64_t m, n, k;
  bool transpose_a = false, transpose_b = false;
  Element operands = Element::f32, result = Element::f32;
  int64_t stride_a = 0, stride_b = 0, stride_c = 0;  // 0: rows are dense
  float beta = 0;
};

void multiply(const Libraries& libraries, cudaStream_t stream, const MatrixShape& shape, const void* a, const void* b,
              void* c);
// The same for `count` products; `a`, `b`, `c`: addresses in device memory.
void multiply_many(const Libraries& libraries, cudaStream_t stream, const MatrixShape& shape, const void* const* a,
                   const void* const* b, void* const* c, int64_t count);

}  // namespace gpusizer::cuda
