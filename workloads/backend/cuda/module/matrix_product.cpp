// SPDX-License-Identifier: Apache-2.0
// cuBLAS sees columns where we see rows: the same bytes are the transposed matrices, so c^T = b^T a^T is asked for.
#include "workloads/backend/cuda/module/matrix_product.hpp"

namespace gpusizer::cuda {

namespace {

cudaDataType_t type_of(Element element) {
  return element == Element::f16 ? CUDA_R_16F : element == Element::bf16 ? CUDA_R_16BF : CUDA_R_32F;
}

cublasComputeType_t compute_of(const MatrixShape& s) {
  return s.operands == Element::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

cublasOperation_t operation_of(bool transpose) { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; }

int narrow(int64_t value) { return static_cast<int>(value); }

// Elements from one row to the next.
struct Strides {
  int a, b, c;
  explicit Strides(const MatrixShape& s)
      : a(narrow(s.stride_a > 0 ? s.stride_a : s.transpose_a ? s.m : s.k)),
        b(narrow(s.stride_b > 0 ? s.stride_b : s.transpose_b ? s.k : s.n)),
        c(narrow(s.stride_c > 0 ? s.stride_c : s.n)) {}
};

}  // namespace

void multiply(const Libraries& libraries, cudaStream_t stream, const MatrixShape& s, const void* a, const void* b, void* c) {
  const Strides strides(s);
  const float alpha = 1;
  const cudaDataType_t in = type_of(s.operands);
  GPUSIZER_CHECK(cublasGemmEx(libraries.blas(stream), operation_of(s.transpose_b), operation_of(s.transpose_a), narrow(s.n),
                              narrow(s.m), narrow(s.k), &alpha, b, in, strides.b, a, in, strides.a, &s.beta, c,
                              type_of(s.result), strides.c, compute_of(s), CUBLAS_GEMM_DEFAULT));
}

void multiply_many(const Libraries& libraries, cudaStream_t stream, const MatrixShape& s, const void* const* a,
                   const void* const* b, void* const* c, int64_t count) {
  const Strides strides(s);
  const float alpha = 1;
  const cudaDataType_t in = type_of(s.operands);
  GPUSIZER_CHECK(cublasGemmBatchedEx(libraries.blas(stream), operation_of(s.transpose_b), operation_of(s.transpose_a),
                                     narrow(s.n), narrow(s.m), narrow(s.k), &alpha, b, in, strides.b, a, in, strides.a,
                                     &s.beta, c, type_of(s.result), strides.c, narrow(count), compute_of(s),
                                     CUBLAS_GEMM_DEFAULT));
}

}  // namespace gpusizer::cuda
