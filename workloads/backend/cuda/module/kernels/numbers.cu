// SPDX-License-Identifier: Apache-2.0
// One thread for each number.
#include "workloads/backend/cuda/module/kernels/numbers.hpp"

#include "workloads/backend/cuda/launch.hpp"

namespace gpusizer::cuda {

namespace {

__global__ void collect_kernel(Numbers numbers, float* to) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < numbers.count) to[i] = numbers.from[i] ? *numbers.from[i] : 0;
}

}  // namespace

cudaError_t collect_numbers(const Numbers& numbers, float* to, cudaStream_t stream) {
  return launch(collect_kernel, {dim3(1), dim3(32)}, stream, numbers, to);
}

}  // namespace gpusizer::cuda
