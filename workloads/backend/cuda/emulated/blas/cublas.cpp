// SPDX-License-Identifier: Apache-2.0
// The cuBLAS functions that the backend falls back to: handles, GemmEx and GemmStridedBatchedEx.
#include <cublas_v2.h>

#include <algorithm>

#include "workloads/backend/cuda/emulated/blas/matrix.hpp"
#include "workloads/backend/cuda/emulated/runtime/task.hpp"

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
};

namespace gpusizer::emulated {
namespace {

struct GemmCall {
  Matrix a, b, c;
  float alpha = 1, beta = 0;
  bool tf32 = false;
};

// `rows` and `columns` are those of op(matrix).
Matrix operand(const void* data, cudaDataType type, cublasOperation_t operation, int rows, int columns, int leading,
               long long stride, int batch) {
  const bool transposed = operation != CUBLAS_OP_N;
  return {const_cast<void*>(data),
          element_of(type),
          transposed ? columns : rows,
          transposed ? rows : columns,
          leading,
          stride,
          batch,
          transposed};
}

bool leading_fits(const Matrix& m) { return m.leading >= std::max<int64_t>(1, m.rows); }

// The pairs of types of cublasGemmEx's table that models use, for sums in FP32 (and FP16).
bool types_supported(const GemmCall& g, cublasComputeType_t compute) {
  const Element ab = g.a.type, c = g.c.type;
  if (ab != g.b.type || ab == Element::unknown || ab == Element::f64) return false;
  if (compute == CUBLAS_COMPUTE_16F) return ab == Element::f16 && c == Element::f16;
  const bool fast = compute == CUBLAS_COMPUTE_32F_FAST_TF32 || compute == CUBLAS_COMPUTE_32F_FAST_16F ||
                    compute == CUBLAS_COMPUTE_32F_FAST_16BF;
  if (compute != CUBLAS_COMPUTE_32F && compute != CUBLAS_COMPUTE_32F_PEDANTIC && !fast) return false;
  if (fast && ab != Element::f32) return false;
  return c == ab || c == Element::f32;
}

void run_gemm(const GemmCall& g) {
  for (int64_t i = 0; i < g.c.batch; ++i) {
    const Matrix c = g.c.at(i);
    const std::vector<float> sums = product(g.a.at(i), g.b.at(i), g.tf32);
    for (int64_t column = 0; column < c.columns; ++column)
      for (int64_t row = 0; row < c.rows; ++row) {
        const int64_t at = c.index(row, column);
        const float before = g.beta == 0 ? 0 : g.beta * read_element(c.type, c.data, at);  // not even NaN is read
        write_element(c.type, c.data, at, g.alpha * sums[static_cast<size_t>(column * c.rows + row)] + before);
      }
  }
}

float scalar(const void* value, cublasComputeType_t compute) {
  if (compute == CUBLAS_COMPUTE_16F) return __half2float(*static_cast<const __half*>(value));
  return *static_cast<const float*>(value);
}

cublasStatus_t start_gemm(cublasHandle_t handle, const GemmCall& g, cublasComputeType_t compute) {
  if (g.c.rows < 0 || g.c.columns < 0 || g.a.columns < 0 || g.a.rows < 0 || g.c.batch < 0)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (!leading_fits(g.a) || !leading_fits(g.b) || !leading_fits(g.c)) return CUBLAS_STATUS_INVALID_VALUE;
  if (!types_supported(g, compute)) return CUBLAS_STATUS_NOT_SUPPORTED;
  const int device = device_of(handle->stream);
  if (const std::string outside = outside_memory({g.a, g.b, g.c}, device); !outside.empty()) {
    report_fault(device, cudaErrorIllegalAddress, "cublasGemm: " + outside);
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  const auto status = enqueue("cublasGemm", handle->stream, [g] {
    return Task{"cublasGemm", {}, [g] { run_gemm(g); }};
  });
  return status == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

// Many products of one form whose matrices lie anywhere.
struct Batch {
  const void* const* a;
  const void* const* b;
  void* const* c;
  int count;
};

void run_batch(const GemmCall& one, const Batch& batch, int device) {
  for (int i = 0; i < batch.count; ++i) {
    GemmCall g = one;
    g.a.data = const_cast<void*>(batch.a[i]);
    g.b.data = const_cast<void*>(batch.b[i]);
    g.c.data = batch.c[i];
    if (const std::string outside = outside_memory({g.a, g.b, g.c}, device); !outside.empty())
      return report_fault(device, cudaErrorIllegalAddress, "cublasGemmBatchedEx: " + outside);
    run_gemm(g);
  }
}

cublasStatus_t start_batch(cublasHandle_t handle, const GemmCall& one, const Batch& batch,
                           cublasComputeType_t compute) {
  if (one.c.rows < 0 || one.c.columns < 0 || one.a.columns < 0 || one.a.rows < 0 || batch.count < 0)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (!leading_fits(one.a) || !leading_fits(one.b) || !leading_fits(one.c)) return CUBLAS_STATUS_INVALID_VALUE;
  if (!types_supported(one, compute)) return CUBLAS_STATUS_NOT_SUPPORTED;
  const int device = device_of(handle->stream);
  const auto status = enqueue("cublasGemmBatched", handle->stream, [one, batch, device] {
    return Task{"cublasGemmBatched", {}, [one, batch, device] { run_batch(one, batch, device); }};
  });
  return status == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace
}  // namespace gpusizer::emulated

using namespace gpusizer::emulated;

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  if (const auto planted = planted_blas_failure("cublasCreate")) return planted;
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  delete handle;
  return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* version) {
  *version = CUBLAS_VERSION;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  *stream = handle->stream;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, size_t bytes) {
  if (bytes && !is_device_memory(workspace, bytes, device_of(handle->stream)))
    return blas_status("cublasSetWorkspace", CUBLAS_STATUS_INVALID_VALUE);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  handle->math_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  *mode = handle->math_mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  handle->pointer_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                          int m, int n, int k, const void* alpha, const void* A, cudaDataType Atype,
                                          int lda, long long int strideA, const void* B, cudaDataType Btype, int ldb,
                                          long long int strideB, const void* beta, void* C, cudaDataType Ctype, int ldc,
                                          long long int strideC, int batchCount, cublasComputeType_t computeType,
                                          cublasGemmAlgo_t) {
  constexpr const char* function = "cublasGemmStridedBatchedEx";
  if (const auto planted = planted_blas_failure(function)) return planted;
  if (!handle) return blas_status(function, CUBLAS_STATUS_NOT_INITIALIZED);
  if (!alpha || !beta || handle->pointer_mode != CUBLAS_POINTER_MODE_HOST)
    return blas_status(function, CUBLAS_STATUS_INVALID_VALUE);
  const bool tf32_mode = handle->math_mode == CUBLAS_TF32_TENSOR_OP_MATH && computeType == CUBLAS_COMPUTE_32F;
  const GemmCall call{operand(A, Atype, transa, m, k, lda, strideA, batchCount),
                      operand(B, Btype, transb, k, n, ldb, strideB, batchCount),
                      operand(C, Ctype, CUBLAS_OP_N, m, n, ldc, strideC, batchCount),
                      scalar(alpha, computeType),
                      scalar(beta, computeType),
                      (computeType == CUBLAS_COMPUTE_32F_FAST_TF32 || tf32_mode) && Atype == CUDA_R_32F};
  return blas_status(function, start_gemm(handle, call, computeType));
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                            int k, const void* alpha, const void* A, cudaDataType Atype, int lda, const void* B,
                            cudaDataType Btype, int ldb, const void* beta, void* C, cudaDataType Ctype, int ldc,
                            cublasComputeType_t computeType, cublasGemmAlgo_t algo) {
  return cublasGemmStridedBatchedEx(handle, transa, transb, m, n, k, alpha, A, Atype, lda, 0, B, Btype, ldb, 0, beta, C,
                                    Ctype, ldc, 0, 1, computeType, algo);
}

// The lists of addresses lie in device memory and are read when the product runs.
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                   int n, int k, const void* alpha, const void* const Aarray[], cudaDataType Atype,
                                   int lda, const void* const Barray[], cudaDataType Btype, int ldb, const void* beta,
                                   void* const Carray[], cudaDataType Ctype, int ldc, int batchCount,
                                   cublasComputeType_t computeType, cublasGemmAlgo_t) {
  constexpr const char* function = "cublasGemmBatchedEx";
  if (const auto planted = planted_blas_failure(function)) return planted;
  if (!handle) return blas_status(function, CUBLAS_STATUS_NOT_INITIALIZED);
  if (!alpha || !beta || !Aarray || !Barray || !Carray || handle->pointer_mode != CUBLAS_POINTER_MODE_HOST)
    return blas_status(function, CUBLAS_STATUS_INVALID_VALUE);
  const GemmCall one{operand(nullptr, Atype, transa, m, k, lda, 0, 1),
                     operand(nullptr, Btype, transb, k, n, ldb, 0, 1),
                     operand(nullptr, Ctype, CUBLAS_OP_N, m, n, ldc, 0, 1),
                     scalar(alpha, computeType),
                     scalar(beta, computeType),
                     computeType == CUBLAS_COMPUTE_32F_FAST_TF32 && Atype == CUDA_R_32F};
  return blas_status(function, start_batch(handle, one, {Aarray, Barray, Carray, batchCount}, computeType));
}

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                              int k, const float* alpha, const float* A, int lda, const float* B, int ldb,
                              const float* beta, float* C, int ldc) {
  return cublasGemmEx(handle, transa, transb, m, n, k, alpha, A, CUDA_R_32F, lda, B, CUDA_R_32F, ldb, beta, C,
                      CUDA_R_32F, ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                         int m, int n, int k, const float* alpha, const float* A, int lda,
                                         long long int strideA, const float* B, int ldb, long long int strideB,
                                         const float* beta, float* C, int ldc, long long int strideC, int batchCount) {
  return cublasGemmStridedBatchedEx(handle, transa, transb, m, n, k, alpha, A, CUDA_R_32F, lda, strideA, B, CUDA_R_32F,
                                    ldb, strideB, beta, C, CUDA_R_32F, ldc, strideC, batchCount, CUBLAS_COMPUTE_32F,
                                    CUBLAS_GEMM_DEFAULT);
}

}  // extern "C"
