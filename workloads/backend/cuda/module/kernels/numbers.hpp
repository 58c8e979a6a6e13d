// SPDX-License-Identifier: Apache-2.0
// Collects the single numbers that a step results in, so that one copy brings them to the host.
#pragma once

#include <cuda_runtime_api.h>

namespace gpusizer::cuda {

struct Numbers {
  static constexpr int most = 20;
  const float* from[most] = {};  // nullptr: 0
  int count = 0;
};

cudaError_t collect_numbers(const Numbers& numbers, float* to, cudaStream_t stream);

}  // namespace gpusizer::cuda
