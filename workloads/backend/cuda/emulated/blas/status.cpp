// SPDX-License-Identifier: Apache-2.0
// The statuses of cuBLAS: their names, and those that nobody asked about.
#include <algorithm>
#include <array>

#include "workloads/backend/cuda/emulated/blas/matrix.hpp"
#include "workloads/backend/cuda/emulated/runtime/task.hpp"

namespace gpusizer::emulated {
namespace {

struct BlasStatusName {
  cublasStatus_t status;
  const char* name;
};

constexpr std::array<BlasStatusName, 9> blas_names = {{
    {CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS"},
    {CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED"},
    {CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED"},
    {CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE"},
    {CUBLAS_STATUS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH"},
    {CUBLAS_STATUS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR"},
    {CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED"},
    {CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED"},
    {CUBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR"},
}};

const char* blas_name(cublasStatus_t status) {
  const auto* found =
      std::find_if(blas_names.begin(), blas_names.end(), [&](const BlasStatusName& n) { return n.status == status; });
  return found == blas_names.end() ? blas_names.back().name : found->name;
}

}  // namespace

cublasStatus_t blas_status(const char* function, cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS && status != CUBLAS_STATUS_NOT_SUPPORTED)
    note_returned_error(function, status, blas_name(status));
  return status;
}

}  // namespace gpusizer::emulated

extern "C" {

const char* cublasGetStatusName(cublasStatus_t status) {
  gpusizer::emulated::note_asked(gpusizer::emulated::blas_name(status));
  return gpusizer::emulated::blas_name(status);
}

const char* cublasGetStatusString(cublasStatus_t status) { return cublasGetStatusName(status); }
const char* cublasLtGetStatusName(cublasStatus_t status) { return cublasGetStatusName(status); }
const char* cublasLtGetStatusString(cublasStatus_t status) { return cublasGetStatusName(status); }

}  // extern "C"
