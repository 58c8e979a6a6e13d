// SPDX-License-Identifier: Apache-2.0
// Opens the libraries on the current device.
#include "workloads/backend/cuda/module/libraries.hpp"

namespace gpusizer::cuda {

namespace {

cublasHandle_t make_blas() {
  cublasHandle_t handle = nullptr;
  GPUSIZER_CHECK(cublasCreate_v2(&handle));
  return handle;
}

cublasLtHandle_t make_lt() {
  cublasLtHandle_t handle = nullptr;
  GPUSIZER_CHECK(cublasLtCreate(&handle));
  return handle;
}

}  // namespace

Libraries::Libraries() : workspace_(workspace_bytes), blas_(make_blas()), lt_(make_lt()) {}

cublasHandle_t Libraries::blas(cudaStream_t stream) const {
  GPUSIZER_CHECK(cublasSetStream_v2(blas_.get(), stream));  // takes the workspace away
  GPUSIZER_CHECK(cublasSetWorkspace_v2(blas_.get(), workspace_.data(), static_cast<size_t>(workspace_bytes)));
  return blas_.get();
}

}  // namespace gpusizer::cuda
