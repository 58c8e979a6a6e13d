// SPDX-License-Identifier: Apache-2.0
// Every call of CUDA's libraries goes through one check, so that no fault is missed.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

namespace gpusizer::cuda {

// Throws Error(failed) that names the call and what the library says; OutOfDeviceMemory where memory ran out.
void check(cudaError_t status, const char* call);
void check(cublasStatus_t status, const char* call);

}  // namespace gpusizer::cuda

#define GPUSIZER_CHECK(call) ::gpusizer::cuda::check((call), #call)
