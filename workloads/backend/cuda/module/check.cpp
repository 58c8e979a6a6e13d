// SPDX-License-Identifier: Apache-2.0
// From a library's status to one sentence.
#include "workloads/backend/cuda/module/check.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "workloads/backend/device_memory.hpp"

namespace gpusizer::cuda {

namespace {

// "cudaMemcpyAsync" of "cudaMemcpyAsync(to, from, ...)".
std::string_view name_of(std::string_view call) { return call.substr(0, call.find('(')); }

[[noreturn]] void fail(std::string_view call, std::string_view code, std::string_view text) {
  int device = -1;
  const std::string where = cudaGetDevice(&device) == cudaSuccess ? fmt::format("cuda:{}", device) : "cuda";
  throw Error(Fault::failed, fmt::format("{} failed: {} ({})", name_of(call), text, code), where);
}

}  // namespace

void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // it was taken notice of
  if (status == cudaErrorMemoryAllocation)
    throw OutOfDeviceMemory(fmt::format("{} got no memory from the device", name_of(call)), "cuda", -1, -1);
  fail(call, cudaGetErrorName(status), cudaGetErrorString(status));
}

void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS) fail(call, cublasGetStatusName(status), cublasGetStatusString(status));
}

}  // namespace gpusizer::cuda
