// SPDX-License-Identifier: Apache-2.0
// The handles of the libraries that compute, one set for each executor, with scratch memory of a fixed size.
#pragma once

#include <cublasLt.h>
#include <cublas_v2.h>

#include "workloads/backend/cuda/module/resources.hpp"

namespace gpusizer::cuda {

class Libraries {
 public:
  // Of the current device.
  Libraries();

  // The handle, with its work going to `stream`.
  cublasHandle_t blas(cudaStream_t stream) const;
  cublasLtHandle_t blas_lt() const { return lt_.get(); }
  void* workspace() const { return workspace_.data(); }

  // What matrix products may use: as much as NVIDIA advises for Hopper and later. A graph needs it to stay where it is.
  static constexpr int64_t workspace_bytes = int64_t{32} << 20;

 private:
  DeviceMemory workspace_;
  Owned<cublasHandle_t, cublasDestroy_v2> blas_;
  Owned<cublasLtHandle_t, cublasLtDestroy> lt_;
};

}  // namespace gpusizer::cuda
